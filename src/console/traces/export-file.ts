/** Writes a file while its content arrives, so that it may exceed the memory of a tab. */

export type ExportFile = {
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Keeps the file. */
  finish(): Promise<void>;
  /** Removes the file. */
  discard(): Promise<void>;
};

type FilePicker = (options: { readonly suggestedName: string }) => Promise<FileSystemFileHandle>;

/** Browsers without a file picker download everything at the end. Null if the user cancels the picker. */
export async function openExportFile(name: string, type = 'application/x-ndjson'): Promise<ExportFile | null> {
  const { showSaveFilePicker: pickFile } = window as { readonly showSaveFilePicker?: FilePicker };
  if (!pickFile) return collectDownload(name, type);
  try {
    const handle = await pickFile.call(window, { suggestedName: name });
    const file = await handle.createWritable();
    return { write: (bytes) => file.write(bytes), finish: () => file.close(), discard: () => file.abort() };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return null;
    return collectDownload(name, type);
  }
}

const BLOB_BYTES = 8_388_608;

/** Collects large blobs, which browsers store on disk. */
function collectDownload(name: string, type: string): ExportFile {
  const blobs: Blob[] = [];
  let chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const close = () => {
    blobs.push(new Blob(chunks));
    chunks = [];
    bytes = 0;
  };
  return {
    async write(chunk) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= BLOB_BYTES) close();
    },
    async finish() {
      close();
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob(blobs, { type }));
      link.download = name;
      link.click();
      URL.revokeObjectURL(link.href);
    },
    async discard() {
      blobs.length = 0;
      chunks = [];
    },
  };
}
