/** What the search leaves out of inputs and outputs: the reasoning of models, binary data, and the frame of messages. */

const REASONING_TYPES: ReadonlySet<string> = new Set([
  'reasoning',
  'reasoning_content',
  'reasoning_text',
  'reasoning.text',
  'reasoning.summary',
  'reasoning.encrypted',
  'thinking',
  'redacted_thinking',
  'redacted-reasoning',
]);
const BINARY_TYPES: ReadonlySet<string> = new Set(['blob', 'base64']);

/** Whether objects of this `type` have no text to search. */
export function isUnsearchedType(type: string): boolean {
  return REASONING_TYPES.has(type) || BINARY_TYPES.has(type);
}

const REASONING_MEMBERS: ReadonlySet<string> = new Set([
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'reasoning_text',
  'thinking',
  'thinking_blocks',
]);

/** Whether this member of a chat message holds reasoning. */
export function isReasoningMember(name: string): boolean {
  return REASONING_MEMBERS.has(name);
}

/** Whether this member of a message's part says that it is reasoning: Gemini marks its thoughts so. */
export function marksReasoning(name: string, scalar: string): boolean {
  return name === 'thought' && scalar === 'true';
}

const MEDIA_TYPE_MEMBERS: ReadonlySet<string> = new Set(['mime_type', 'mimeType', 'media_type', 'mediaType']);
const DATA_MEMBERS: ReadonlySet<string> = new Set(['data', 'bytes', 'image', 'file_data']);

/** Whether an object with this member says of what kind its data is. */
export function isMediaTypeMember(name: string): boolean {
  return MEDIA_TYPE_MEMBERS.has(name);
}

/** Whether this member is binary in an object that names a media type. */
export function isDataMember(name: string): boolean {
  return DATA_MEMBERS.has(name);
}

const DATA_URL = /^data:[^,]{0,256};base64,/;
const BASE64 = /^[\w+/-]+={0,2}$/;
/** Shorter texts without a space may be words. */
const BASE64_MIN_CHARACTERS = 256;

/** How many characters of a string tell whether it is binary. */
export const BINARY_CHARACTERS = 1_024;

/** Whether a string encodes binary data. */
export function isBinary(text: string): boolean {
  if (text.startsWith('data:')) return DATA_URL.test(text);
  if (text.length < BASE64_MIN_CHARACTERS) return false;
  const start = text.slice(0, BINARY_CHARACTERS);
  return BASE64.test(start) && /[A-Z]/.test(start) && /[a-z]/.test(start) && /[0-9]/.test(start);
}
