/** A text that is put together line by line and never grows beyond a number of bytes. */

export type BoundedLines = {
  /** False, and nothing is added from then on, when the line has no room. */
  add(line: string): boolean;
  /** For the line that says what had no room: it always has. */
  close(line: string): void;
  text(): string;
};

export function createBoundedLines(maxBytes: number): BoundedLines {
  const lines: string[] = [];
  let leftBytes = maxBytes;
  return {
    add(line) {
      const bytes = Buffer.byteLength(line) + 1;
      if (bytes > leftBytes) {
        leftBytes = 0;
        return false;
      }
      leftBytes -= bytes;
      lines.push(line);
      return true;
    },
    close: (line) => void lines.push(line),
    text: () => lines.join('\n'),
  };
}
