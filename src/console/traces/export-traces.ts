/** Exports the traces of a search as lines of JSON. */

import { Code, ConnectError } from '@connectrpc/connect';
import type { ExportFile } from './export-file.ts';

type ExportRequest = {
  /** The body of a search. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};

export type ExportProgress = { readonly traces: number; readonly bytes: number };

const LINE_END = 10;
const PROGRESS_EVERY_BYTES = 262_144;

/** Waits for the file after each chunk. If the export fails, discards the file and rejects. */
export async function exportTraces(
  request: ExportRequest,
  file: ExportFile,
  onProgress: (progress: ExportProgress) => void,
  signal: AbortSignal,
): Promise<ExportProgress> {
  let traces = 0;
  let bytes = 0;
  let reportedBytes = 0;
  try {
    const response = await fetch('/api/traces/export', {
      method: 'POST',
      headers: { ...request.headers, 'content-type': 'application/json' },
      body: request.body,
      signal,
    });
    if (!response.ok || !response.body) throw await readRefusal(response);
    const reader = response.body.getReader();
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      await file.write(chunk.value);
      traces += countLines(chunk.value);
      bytes += chunk.value.length;
      if (bytes - reportedBytes < PROGRESS_EVERY_BYTES) continue;
      reportedBytes = bytes;
      onProgress({ traces, bytes });
    }
    await file.finish();
    return { traces, bytes };
  } catch (error) {
    await file.discard();
    throw error;
  }
}

function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, at + 1)) lines += 1;
  return lines;
}

const CODES: { readonly [status: number]: Code } = {
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
  422: Code.InvalidArgument,
  429: Code.ResourceExhausted,
  503: Code.Unavailable,
};

async function readRefusal(response: Response): Promise<ConnectError> {
  const answer: unknown = await response.json().catch(() => null);
  const message = typeof answer === 'object' && answer !== null && 'message' in answer ? String(answer.message) : '';
  return new ConnectError(
    message || `HTTP ${response.status}`,
    CODES[response.status] ?? Code.Unknown,
    response.headers,
  );
}
