// The bytes of one file, in pages of 64 KiB; null stands for a page of zeros (src/isolate/files/file_content.h is the same in C++).
import { kPageBytes } from "./image.mjs";

export class FileContent {
  size = 0;
  pages = [];

  static pagesFor(size) {
    return Math.ceil(size / kPageBytes);
  }

  resize(size) {
    const count = FileContent.pagesFor(size);
    this.pages.length = Math.min(this.pages.length, count);
    while (this.pages.length < count) this.pages.push(null);
    const used = size % kPageBytes;
    if (size < this.size && used !== 0) this.pages[count - 1]?.fill(0, used);
    this.size = size;
  }

  // REQUIRES: it is all inside.
  read(offset, out) {
    this.#each(offset, out.length, (index, within, done, part) => {
      const page = this.pages[index];
      if (page === null) out.fill(0, done, done + part);
      else out.set(page.subarray(within, within + part), done);
    });
  }

  write(offset, bytes) {
    if (offset + bytes.length > this.size) this.resize(offset + bytes.length);
    this.#each(offset, bytes.length, (index, within, done, part) => {
      this.pages[index] ??= new Uint8Array(kPageBytes);
      this.pages[index].set(bytes.subarray(done, done + part), within);
    });
  }

  #each(offset, length, visit) {
    for (let done = 0; done < length; ) {
      const within = (offset + done) % kPageBytes;
      const part = Math.min(kPageBytes - within, length - done);
      visit(Math.floor((offset + done) / kPageBytes), within, done, part);
      done += part;
    }
  }
}
