/** A text built line by line within a limit of bytes. */

type BoundedLines = {
  /** False when the line does not fit; then no later line is added. */
  add(line: string): boolean;
  /** Adds the last line, even beyond the limit. */
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
