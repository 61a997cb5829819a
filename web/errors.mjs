// The error class of this library: input from outside (image, module, guest) breaks a rule. The message is a sentence for users.
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
