/** Messages that a span has as events, in the form that attributes have. */

import { isArray, isObject } from '../../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import { isBlank } from '../collector/collector-json.ts';
import type { AttributeJson } from './attribute-json.ts';
import { holdsBareContents, messageOf } from './message-parts.ts';
import type { Attributes, OtlpEvent } from './span.ts';
import type { SpanView } from './span-view.ts';

/** Further messages of a span are kept with its events only. */
const MESSAGES_MAX = 1_000;

/** Roles of input messages by the name of their event. */
const ROLES: ReadonlyMap<string, string> = new Map([
  ['gen_ai.system.message', 'system'],
  ['gen_ai.user.message', 'user'],
  ['gen_ai.assistant.message', 'assistant'],
  ['gen_ai.tool.message', 'tool'],
]);
const CHOICE = 'gen_ai.choice';
/** Events with all messages of one side in an attribute. */
const INPUTS: ReadonlyMap<string, string> = new Map([
  ['gen_ai.client.inference.operation.details', 'gen_ai.input.messages'],
  ['gen_ai.content.prompt', 'gen_ai.prompt'],
]);
const OUTPUTS: ReadonlyMap<string, string> = new Map([
  ['gen_ai.client.inference.operation.details', 'gen_ai.output.messages'],
  ['gen_ai.content.completion', 'gen_ai.completion'],
]);
const SYSTEM_INSTRUCTIONS = 'gen_ai.system_instructions';

/** Each event with what it gives, for docs/attributes.md. */
export const MESSAGE_EVENTS: readonly (readonly [name: string, gives: string])[] = [
  ...[...ROLES].map(([name, role]) => [name, `a message of the input, by default of role ${role}`] as const),
  [CHOICE, 'a message of the output'],
  ...[...INPUTS].map(([name, key]) => [name, `the input, in its attribute \`${key}\``] as const),
  ...[...OUTPUTS].map(([name, key]) => [name, `the output, in its attribute \`${key}\``] as const),
];

/** Whether an event says what a model was asked or what it answered. */
export function isMessageEvent({ name }: Pick<OtlpEvent, 'name'>): boolean {
  return ROLES.has(name) || name === CHOICE || INPUTS.has(name) || OUTPUTS.has(name);
}

export function inputOfEvents({ span: { events }, json }: SpanView): LosslessJson | undefined {
  if (events.length === 0) return undefined;
  return joined(events, ({ name, attributes }) => {
    const key = INPUTS.get(name);
    if (key !== undefined) return withInstructions(json.parsed(attributes.get(key)), attributes, json);
    const role = ROLES.get(name);
    return role === undefined ? undefined : toMessage(role, bodyOf(attributes, json));
  });
}

export function outputOfEvents({ span: { events }, json }: SpanView): LosslessJson | undefined {
  if (events.length === 0) return undefined;
  return joined(events, ({ name, attributes }) => {
    const key = OUTPUTS.get(name);
    if (key !== undefined) return json.parsed(attributes.get(key));
    return name === CHOICE ? toAnswer(bodyOf(attributes, json)) : undefined;
  });
}

/** The input of events that stand in an attribute, as objects with their names. */
export function inputOfListed(list: LosslessJson | undefined): LosslessJson | undefined {
  return listed(list, (name, body) => {
    const role = ROLES.get(name);
    return role === undefined ? undefined : toMessage(role, body);
  });
}

export function outputOfListed(list: LosslessJson | undefined): LosslessJson | undefined {
  return listed(list, (name, body) => (name === CHOICE ? toAnswer(body) : undefined));
}

type ReadListed = (name: string, body: LosslessObject) => LosslessJson | undefined;

function listed(list: LosslessJson | undefined, read: ReadListed): LosslessJson | undefined {
  if (!isArray(list)) return undefined;
  return joined(list, (item) => {
    const name = isObject(item) ? item['event.name'] : undefined;
    return isObject(item) && typeof name === 'string' ? read(name, item) : undefined;
  });
}

/** What the items say: a single text, or one list of all messages. */
function joined<Item>(
  items: readonly Item[],
  read: (item: Item) => LosslessJson | undefined,
): LosslessJson | undefined {
  const values: LosslessJson[] = [];
  for (const item of items) {
    const value = read(item);
    if (isBlank(value)) continue;
    if (isArray(value)) values.push(...value.slice(0, MESSAGES_MAX - values.length));
    else values.push(value);
    if (values.length >= MESSAGES_MAX) break;
  }
  const [only] = values;
  if (values.length > 1 || isObject(only)) return values;
  return only;
}

function withInstructions(
  messages: LosslessJson | undefined,
  attributes: Attributes,
  json: AttributeJson,
): LosslessJson | undefined {
  const instructions = json.parsed(attributes.get(SYSTEM_INSTRUCTIONS));
  if (isBlank(instructions)) return messages;
  const system = isArray(instructions)
    ? { role: 'system', parts: instructions }
    : { role: 'system', content: textOf(instructions) };
  if (isArray(messages)) return [system, ...messages];
  return isBlank(messages) ? [system] : messages;
}

/** Members of the body of an event that attributes have under their plain names. */
const PLAIN_MEMBERS = ['role', 'id', 'name', 'finish_reason', 'tool_calls'] as const;
/** Azure writes the whole body into one attribute. */
const BODY = 'gen_ai.event.content';

function bodyOf(attributes: Attributes, json: AttributeJson): LosslessObject {
  const body: { [name: string]: LosslessJson } = { ...json.object(attributes.get(BODY)) };
  for (const member of PLAIN_MEMBERS) {
    const value = json.parsed(attributes.get(member));
    if (value !== undefined) body[member] = value;
  }
  const [content, message] = [attributes.get('content'), attributes.get('message')];
  if (content !== undefined) body.content = contentOf(content, json);
  if (message !== undefined) {
    const read = json.parsed(message);
    body.message = isObject(read) && isMessage(read) ? read : contentOf(message, json);
  }
  return body;
}

/** A list of contents in a text is that list; any other text stays as it is, though it may be JSON. */
function contentOf(value: LosslessJson, json: AttributeJson): LosslessJson {
  const read = json.parsed(value);
  return isArray(read) && read.length > 0 && read.every(isObject) ? read : value;
}

function isMessage(read: LosslessObject): boolean {
  return ['content', 'parts', 'tool_calls'].some((member) => read[member] !== undefined);
}

/** The message of a choice. Its members may stand inside a message or beside one another. */
function toAnswer({ message, ...body }: LosslessObject): LosslessJson | undefined {
  if (isObject(message)) return toMessage('assistant', { ...body, content: null, ...message });
  return toMessage('assistant', message === undefined ? body : { ...body, content: message });
}

/** undefined for a message that says nothing. */
function toMessage(roleOfEvent: string, body: LosslessObject): LosslessJson | undefined {
  const { content = null, parts } = body;
  const role = typeof body.role === 'string' && body.role !== '' ? body.role : roleOfEvent;
  const others: { [name: string]: LosslessJson } = {};
  for (const member of ['id', 'name', 'tool_calls', 'finish_reason'] as const) {
    const value = body[member];
    if (!isBlank(value)) others[member] = value;
  }
  if (isArray(parts)) return { role, parts, ...others };
  if (content === null && others.tool_calls === undefined) return undefined;
  if (isArray(content) && holdsBareContents(content)) return { ...messageOf(role, content), ...others };
  return { role, content: textOf(content), ...others };
}

/** Content is a text or a list: anything else would keep the conversation from being one. */
function textOf(content: LosslessJson): LosslessJson {
  return typeof content === 'string' || content === null || isArray(content) ? content : JSON.stringify(content);
}
