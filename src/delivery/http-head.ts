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
/** A client reads a folded value as one line (RFC 9112, 5.2). */
const FOLD = /\r?\n[ \t]+/g;
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const LENGTHS = /^([0-9]{1,15})(?:[ \t]*,[ \t]*\1)*$/;
const KEEP_ALIVE_TIMEOUT = /(?:^|[\s,;])timeout=([0-9]{1,6})/i;
const STATUSES_WITHOUT_BODY = [204, 304];

/**
 * `text` is the header block without its final empty line. Null without a status, or when it contradicts itself about its
 * body. Lines may end in LF alone, and those that are not fields are passed over, as other clients do.
 */
export function parseHead(text: string): ResponseHead | null {
  const [first = '', ...lines] = text.replace(FOLD, ' ').split('\n');
  const statusLine = STATUS_LINE.exec(withoutCr(first));
  const read = readFields(lines);
  if (!statusLine || !read) return null;
  const { fields, isCareless } = read;
  const status = Number(statusLine[2]);
  const isOld = statusLine[1] === '0';
  return {
    status,
    framing: readFraming(status, fields, isOld),
    retryAfter: fields.retryAfter,
    // What was passed over may have meant another body.
    keptMs: isCareless ? 0 : readKept(fields, isOld),
  };
}

function withoutCr(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** Null when the fields contradict each other. */
function readFields(lines: readonly string[]): { readonly fields: Fields; readonly isCareless: boolean } | null {
  const fields: Fields = {
    contentLength: null,
    transferEncoding: null,
    connection: '',
    keepAlive: '',
    retryAfter: null,
  };
  let isCareless = false;
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).trimEnd();
    if (!NAME.test(name)) isCareless = true;
    else if (!keepField(fields, name.toLowerCase(), line.slice(colon + 1).trim())) return null;
  }
  return { fields, isCareless };
}

/** False when the value contradicts an earlier one or is invalid. */
function keepField(fields: Fields, name: string, value: string): boolean {
  if (name === 'content-length') {
    const length = LENGTHS.exec(value)?.[1];
    if (length === undefined || (fields.contentLength !== null && fields.contentLength !== length)) return false;
    fields.contentLength = length;
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
