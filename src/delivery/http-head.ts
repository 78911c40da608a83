/** Parses the headers of an HTTP/1 response. */

export type ResponseHead = {
  readonly status: number;
  /** How the end of the body is marked; `length` may be 0. */
  readonly framing: { readonly kind: 'length'; readonly bytes: number } | { readonly kind: 'chunked' | 'untilClose' };
  readonly retryAfter: string | null;
  /** How long the receiver keeps an idle connection: null if it does not say, 0 if it closes it. */
  readonly keptMs: number | null;
};

type Fields = {
  contentLength: string | null;
  transferEncoding: string | null;
  connection: string;
  keepAlive: string;
  retryAfter: string | null;
};

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: |$)/;
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const LENGTH = /^[0-9]{1,15}$/;
const KEEP_ALIVE_TIMEOUT = /(?:^|[\s,;])timeout=([0-9]{1,6})/i;
const STATUSES_WITHOUT_BODY = [204, 304];

/** `text` is the header block without its final empty line. Null when it is malformed. */
export function parseHead(text: string): ResponseHead | null {
  const lineEnd = text.indexOf('\r\n');
  const statusLine = STATUS_LINE.exec(lineEnd < 0 ? text : text.slice(0, lineEnd));
  const fields = readFields(text, lineEnd < 0 ? text.length : lineEnd + 2);
  if (!statusLine || !fields) return null;
  const status = Number(statusLine[2]);
  const isOld = statusLine[1] === '0';
  return {
    status,
    framing: readFraming(status, fields, isOld),
    retryAfter: fields.retryAfter,
    keptMs: readKept(fields, isOld),
  };
}

function readFields(text: string, from: number): Fields | null {
  const fields: Fields = {
    contentLength: null,
    transferEncoding: null,
    connection: '',
    keepAlive: '',
    retryAfter: null,
  };
  for (let start = from; start < text.length; ) {
    const found = text.indexOf('\r\n', start);
    const end = found < 0 ? text.length : found;
    const colon = text.indexOf(':', start);
    if (colon < 0 || colon >= end) return null;
    const name = text.slice(start, colon);
    if (!NAME.test(name) || !keepField(fields, name.toLowerCase(), text.slice(colon + 1, end).trim())) return null;
    start = end + 2;
  }
  return fields;
}

/** False when the value contradicts an earlier one or is invalid. */
function keepField(fields: Fields, name: string, value: string): boolean {
  if (name === 'content-length') {
    if (!LENGTH.test(value) || (fields.contentLength !== null && fields.contentLength !== value)) return false;
    fields.contentLength = value;
  } else if (name === 'transfer-encoding') {
    fields.transferEncoding = joinValues(fields.transferEncoding, value.toLowerCase());
  } else if (name === 'connection') {
    fields.connection = joinValues(fields.connection, value.toLowerCase());
  } else if (name === 'keep-alive') {
    fields.keepAlive = value;
  } else if (name === 'retry-after') {
    fields.retryAfter = joinValues(fields.retryAfter, value);
  }
  return true;
}

function joinValues(before: string | null, value: string): string {
  return before ? `${before},${value}` : value;
}

function readFraming(status: number, fields: Fields, isOld: boolean): ResponseHead['framing'] {
  if (STATUSES_WITHOUT_BODY.includes(status)) return { kind: 'length', bytes: 0 };
  const { transferEncoding, contentLength } = fields;
  if (transferEncoding !== null) {
    return { kind: !isOld && /(^|[\s,])chunked$/.test(transferEncoding) ? 'chunked' : 'untilClose' };
  }
  return contentLength === null ? { kind: 'untilClose' } : { kind: 'length', bytes: Number(contentLength) };
}

function readKept({ connection, keepAlive, transferEncoding, contentLength }: Fields, isOld: boolean): number | null {
  // With two ways to mark its end, proxies may disagree about where the body ends.
  if (transferEncoding !== null && contentLength !== null) return 0;
  if (connection !== '') {
    const options = connection.split(',').map((option) => option.trim());
    if (options.includes('close')) return 0;
    if (isOld && !options.includes('keep-alive')) return 0;
  } else if (isOld) return 0;
  const seconds = keepAlive === '' ? null : KEEP_ALIVE_TIMEOUT.exec(keepAlive)?.[1];
  return seconds == null ? null : Number(seconds) * 1_000;
}
