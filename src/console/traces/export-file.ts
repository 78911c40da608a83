/** A file that is written while its content comes, so that it may be larger than what fits into a tab. */

export type ExportFile = {
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** What was written is a file from now on. */
  finish(): Promise<void>;
  /** What was written is gone. */
  discard(): Promise<void>;
};

type FilePicker = (options: { readonly suggestedName: string }) => Promise<FileSystemFileHandle>;

/** Where the browser has no such thing, it downloads the whole at the end. Null when nobody wants the file any more. */
export async function openExportFile(name: string): Promise<ExportFile | null> {
  const { showSaveFilePicker: pick } = window as { readonly showSaveFilePicker?: FilePicker };
  if (!pick) return collectDownload(name);
  try {
    const handle = await pick.call(window, { suggestedName: name });
    const file = await handle.createWritable();
    return { write: (bytes) => file.write(bytes), finish: () => file.close(), discard: () => file.abort() };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return null;
    return collectDownload(name);
  }
}

const PART_BYTES = 8_388_608;

/** Browsers keep large blobs on the disk. */
function collectDownload(name: string): ExportFile {
  const parts: Blob[] = [];
  let chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const close = () => {
    parts.push(new Blob(chunks));
    chunks = [];
    bytes = 0;
  };
  return {
    async write(chunk) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= PART_BYTES) close();
    },
    async finish() {
      close();
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob(parts, { type: 'application/x-ndjson' }));
      link.download = name;
      link.click();
      URL.revokeObjectURL(link.href);
    },
    async discard() {
      parts.length = 0;
      chunks = [];
    },
  };
}
