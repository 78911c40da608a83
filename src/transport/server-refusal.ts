/** Parses a prepared HTTP/1.1 response, so that it can also be sent through a response object or an HTTP/2 stream. */

type Refusal = { readonly status: number; readonly headers: Record<string, string>; readonly body: Buffer };

// HTTP/2 forbids these headers: its frames replace them.
const HTTP1_ONLY = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade']);

/** `raw` is a whole HTTP/1.1 response, status line included. */
export function parseRefusal(raw: Buffer): Refusal {
  const end = raw.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = raw.toString('latin1', 0, end).split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (!HTTP1_ONLY.has(name)) headers[name] = line.slice(colon + 1).trim();
  }
  return { status: Number(statusLine.split(' ')[1]), headers, body: raw.subarray(end + 4) };
}
