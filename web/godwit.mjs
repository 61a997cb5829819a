// Godwit in JavaScript: runs, suspends, saves and continues mobile modules in Node 18 or later and in browsers. No dependency.
//
//   const isolate = await Isolate.restore(bytesOfAnImage, host);
//   const stop = isolate.resume({ milliseconds: 100 });
//   if (stop.kind === "suspended") send(await isolate.save());
export { GodwitError } from "./errors.mjs";
export { decodeImage, encodeImage } from "./image.mjs";
export { Isolate } from "./isolate.mjs";
export { decodeModuleInfo, readModuleInfo } from "./module_info.mjs";
