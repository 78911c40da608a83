/**
 * Stores the envelopes of events in two fifths of their bytes: control characters, which compact JSON never holds, stand for the
 * phrases that the envelopes of completed requests have in common. A code never changes its meaning; new phrases get new
 * codes.
 */

/** In the order in which they occur. The code of a phrase is its position after FIRST_CODE. */
const PHRASES = [
  '","type":"gateway.request.completed","created":"',
  '","schema_version":"1","data":{"event_id":"',
  '","event_type":"gateway.request.completed","gateway_request_id":"',
  '","occurred_at":"',
  '","organization_id":"organization_',
  '","project_id":"project_',
  '","virtual_key_id":"',
  '","principal_user_id":null,"end_user_id":',
  ',"trace_id":"',
  '","model":"',
  '","model_provider_id":null,"request_type":"',
  '","usage":{"input_tokens":',
  ',"output_tokens":',
  ',"cache_read_input_tokens":',
  ',"cache_creation_input_tokens":',
  ',"reasoning_tokens":',
  '},"cost":{"total_usd":"',
  '","nano_usd":',
  ',"rate_version":"registry@',
  '"},"status":"success","needs_reconciliation":null,"settle_reason":null,"error":null,"duration_ms":',
  ',"labels":[',
  '],"metadata":{',
] as const;

/** Ids that the data repeats: that of the event, and that of its request, with which the id of the event begins. */
const EVENT_ID = '\u0001';
const REQUEST_ID = '\u0002';
const FIRST_CODE = 3;
const CODES = PHRASES.map((_, index) => String.fromCharCode(FIRST_CODE + index));

const ID_START = '{"id":"';
const COMPLETED = ':completed';
const CODE = /[\u0001-\u001f]/;
const EACH_CODE = /[\u0001-\u001f]/g;

export function packEnvelope(envelope: string): string {
  if (CODE.test(envelope)) throw new Error('an envelope holds a control character');
  const { eventId, requestId } = idsOf(envelope);
  let packed = '';
  let at = 0;
  for (let index = 0; index < PHRASES.length; index += 1) {
    const phrase = PHRASES[index] ?? '';
    const found = envelope.indexOf(phrase, at);
    if (found < 0) continue;
    packed += envelope.slice(at, found) + CODES[index];
    at = found + phrase.length;
    if (index === 1 && envelope.startsWith(eventId, at)) {
      packed += EVENT_ID;
      at += eventId.length;
    } else if (index === 2 && requestId !== '' && envelope.startsWith(requestId, at)) {
      packed += REQUEST_ID;
      at += requestId.length;
    }
  }
  return packed + envelope.slice(at);
}

/** Leaves an envelope that is not packed as it is. */
export function unpackEnvelope(stored: string): string {
  if (!CODE.test(stored)) return stored;
  const { eventId, requestId } = idsOf(stored);
  return stored.replace(EACH_CODE, (code) => {
    if (code === EVENT_ID) return eventId;
    if (code === REQUEST_ID) return requestId;
    const phrase = PHRASES[code.charCodeAt(0) - FIRST_CODE];
    if (phrase === undefined) throw new Error('a stored envelope holds an unknown code');
    return phrase;
  });
}

/** As JSON writes them. Both forms begin alike. */
function idsOf(text: string): { readonly eventId: string; readonly requestId: string } {
  let end = ID_START.length;
  while (end < text.length && text[end] !== '"' && text.charCodeAt(end) > 0x1f) end += 1;
  const eventId = text.slice(ID_START.length, end);
  return { eventId, requestId: eventId.endsWith(COMPLETED) ? eventId.slice(0, -COMPLETED.length) : '' };
}
