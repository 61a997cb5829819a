// The custom section "godwit" of a mobile module (docs/design/000-mobile-isolates.md; src/wire/wasm/module_info.h is the same in C++).
import { ByteReader, hex } from "./bytes.mjs";
import { refuse } from "./errors.mjs";

const kAbiVersion = 2;
const kMaxGlobals = 4096;
const kLevels = ["off", "coarse", "fine"];
const kPolls = ["none", "cell", "counter"];
const kCanonicalNans = 1;

export const kValueTypes = new Map([
  [0x7f, "i32"],
  [0x7e, "i64"],
  [0x7d, "f32"],
  [0x7c, "f64"],
  [0x7b, "v128"],
]);

function named(names, index, what) {
  return names[index] ?? refuse("corrupt", `the godwit section has an unknown ${what} ${index}`);
}

function readGlobals(reader) {
  const count = reader.u16();
  if (count > kMaxGlobals) refuse("corrupt", `the godwit section lists ${count} globals, ${kMaxGlobals} are allowed`);
  return Array.from({ length: count }, () => {
    const type = reader.u8();
    return kValueTypes.get(type) ?? refuse("corrupt", `the godwit section names a global of type 0x${type.toString(16)}, which no image can hold`);
  });
}

// The places the host writes to must be possible for wasm32, and level and poll go together: a coarse module stops in host calls only.
function checkConsistent(info) {
  const mobile = info.level !== "off";
  if (mobile ? info.unwindBytes === 0 : info.unwindBytes !== 0 || info.unwindBase !== 0 || info.globals.length > 0) {
    refuse("corrupt", "the godwit section gives a level and an unwind stack that do not go together");
  }
  if ((info.level === "fine") !== (info.poll !== "none")) {
    refuse("corrupt", "the godwit section gives a level and a kind of poll that do not go together");
  }
  const cellPossible = info.pollCell > 0 && info.pollCell % 4 === 0 && info.pollCell + 4 <= 2 ** 32;
  if (info.poll === "cell" ? !cellPossible : info.pollCell !== 0) {
    refuse("corrupt", `the godwit section puts the poll cell at 0x${info.pollCell.toString(16)}, which is not possible`);
  }
}

export function decodeModuleInfo(payload) {
  const reader = new ByteReader(payload, "the godwit section");
  const version = reader.u8();
  if (version !== kAbiVersion) {
    refuse("unsupported", `the module was built for ABI version ${version}, this program knows ${kAbiVersion}: build it again`);
  }
  const level = named(kLevels, reader.u8(), "level");
  const poll = named(kPolls, reader.u8(), "poll");
  const flags = reader.u8();
  if ((flags & ~kCanonicalNans) !== 0) refuse("corrupt", `the godwit section has unknown flags 0x${flags.toString(16)}`);
  const info = {
    level,
    poll,
    canonicalNans: (flags & kCanonicalNans) !== 0,
    features: reader.u32(),
    pollCell: reader.u32(),
    unwindBase: reader.u32(),
    unwindBytes: reader.u32(),
    sourceHash: hex(reader.bytes(32)),
    globals: readGlobals(reader),
  };
  reader.expectEnd();
  checkConsistent(info);
  return info;
}

// Reads the section out of a compiled module.
export function readModuleInfo(module) {
  const sections = WebAssembly.Module.customSections(module, "godwit");
  if (sections.length === 0) refuse("invalid", "the module has no godwit section: pass it through 'godwit build' first");
  if (sections.length > 1) refuse("corrupt", "the module has two godwit sections");
  return decodeModuleInfo(new Uint8Array(sections[0]));
}
