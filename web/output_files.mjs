// The files a guest leaves behind: those under its declared outputs (src/isolate/files/output_files.cc is the same in C++).
import { kRoot, Limit, NodeType } from "./file_tree.mjs";
import { bytesToName, nameToBytes } from "./file_tree_codec.mjs";
import { refuse } from "./errors.mjs";

const kTypes = ["file", "directory", "symlink"];

function* visit(files, path, inode) {
  const node = files.node(inode);
  if (node.readOnly) return;
  if (path.length >= Limit.pathBytes) refuse("invalid", "an output has a path of more than 4096 bytes");
  const bytes = new Uint8Array(node.content?.size ?? 0);
  node.content?.read(0, bytes);
  yield { path, type: kTypes[node.type], bytes: node.type === NodeType.symlink ? nameToBytes(node.target) : bytes };
  for (const name of [...(node.entries?.keys() ?? [])].sort()) yield* visit(files, `${path}/${name}`, node.entries.get(name).node);
}

// Names are looked up as they stand: a link that the guest has put into the way leads nowhere.
function find(files, path) {
  let at = kRoot;
  for (const name of path.split("/")) {
    if (at === 0n || !files.isDirectory(at)) return 0n;
    at = files.lookup(at, name);
  }
  return at;
}

export function* outputFiles({ files, outputs }) {
  const paths = new Set(outputs.map((bytes) => bytesToName(bytes).replace(/\/$/, "")).sort());
  const isVisitedWithAnother = (path) => [...path].some((character, i) => character === "/" && paths.has(path.slice(0, i)));
  for (const path of paths) {
    const inode = isVisitedWithAnother(path) ? 0n : find(files, path);
    if (inode !== 0n) yield* visit(files, path, inode);
  }
}
