// The one error of this library: something from outside (image, module, guest) is not as it must be. The message is a sentence for people.
export class GodwitError extends Error {
  // kind: as in src/base/result.h: "corrupt", "unsupported", "invalid", "internal".
  constructor(kind, message) {
    super(message);
    this.name = "GodwitError";
    this.kind = kind;
  }
}

export function refuse(kind, message) {
  throw new GodwitError(kind, message);
}
