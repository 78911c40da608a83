/** Idempotency keys: a repeated call gets the response of the first. */

import {
  clone,
  create,
  type DescMessage,
  fromBinary,
  isFieldSet,
  type Message,
  type MessageInitShape,
  toBinary,
} from '@bufbuild/protobuf';
import { type FieldMask, FieldMaskSchema } from '@bufbuild/protobuf/wkt';
import type { Idempotency } from '../domain/management/idempotency.ts';
import { fieldValue } from './field-values.ts';
import type { Context, Handler, UnaryMethod, UnaryResponse } from './method.ts';
import { isDeclared, isMask } from './rest-shape.ts';
import type { Problem } from './validate.ts';

const HEADER = 'Idempotency-Key';
const VALUE = /^[\x20-\x7E]{8,255}$/;
const EXPECTED = '8 to 255 characters';

type SentKey =
  | { readonly kind: 'none' | 'valid'; readonly value: string }
  | { readonly kind: 'invalid'; readonly problem: Problem };

/** The idempotency key of a call; rpcs that support none ignore the header. */
export function readIdempotencyKey(method: UnaryMethod, header: (name: string) => string | undefined): SentKey {
  const sent = method.policy.idempotent ? header('idempotency-key') : undefined;
  if (sent === undefined) return { kind: 'none', value: '' };
  const value = sent.trim();
  if (VALUE.test(value)) return { kind: 'valid', value };
  const message = `${HEADER} must have ${EXPECTED}`;
  return {
    kind: 'invalid',
    problem: { field: HEADER, target: 'header', type: 'invalid_length', message, expected: EXPECTED },
  };
}

type IdempotentRun = {
  readonly idempotency: Idempotency;
  readonly method: UnaryMethod;
  readonly handler: Handler;
  readonly value: string;
};

/** The headers of a replayed response. */
const REPLAYED = { 'x-idempotent-replay': 'true' };

type Call = Omit<Context, 'receipt' | 'replay'>;

/** Runs the handler of an rpc, or replays its stored response. `message` is the validated request. */
export async function runIdempotent(
  { idempotency, method, handler, value }: IdempotentRun,
  message: Message,
  context: Call,
): Promise<UnaryResponse> {
  const { actor, nowMs } = context;
  const keyId = actor?.actorKeyId ?? actor?.actorUserId ?? null;
  if (actor === null || keyId === null) throw new Error(`${method.path} honours idempotency keys of nobody`);
  const { input, output } = method.desc;
  const begun = await idempotency.begin({
    name: { organizationId: actor.organizationId, keyId, operation: method.path, value },
    request: canonicalRequest(input, message),
    nowMs,
  });
  if (begun.kind === 'replay')
    return replayResponse({ method, handler, answer: fromBinary(output, begun.answer) }, message, context);
  let promised: Uint8Array | null = null;
  const receipt = (answer: MessageInitShape<DescMessage>) => {
    promised = toBinary(output, create(output, answer));
    return begun.receipt(promised);
  };
  let kept = false;
  try {
    const answer = create(output, await handler.handle(message as never, { ...context, receipt }));
    // The response differs from the receipt where the handler had nothing to store after all.
    kept = promised !== null && Buffer.compare(promised, toBinary(output, answer)) === 0;
    return { message: answer, headers: {} };
  } finally {
    if (!kept) await begun.release();
  }
}

type StoredResponse = Pick<IdempotentRun, 'method' | 'handler'> & { readonly answer: Message };

/** Replays a stored response, after the handler has checked that the caller may still make the request. */
async function replayResponse(
  { method, handler, answer }: StoredResponse,
  message: Message,
  context: Call,
): Promise<UnaryResponse> {
  const passed = new Error('the caller may still make the request');
  const pass = () => {
    throw passed;
  };
  try {
    await handler.handle(message as never, { ...context, receipt: () => undefined, replay: { answer, pass } });
  } catch (error) {
    if (error === passed) return { message: answer, headers: REPLAYED };
    throw error;
  }
  throw new Error(`${method.path} was replayed without a check of its caller`);
}

const DECLARED_ONLY = { writeUnknownFields: false };

/**
 * The same bytes for the same request over every transport: the declared fields in the order of their numbers, and
 * which of them count as sent.
 */
export function canonicalRequest(desc: DescMessage, message: Message): Uint8Array {
  const mask = desc.fields.find(isMask);
  if (mask === undefined) return toBinary(desc, message, DECLARED_ONLY);
  const { [mask.localName]: sent } = message as unknown as Record<string, FieldMask | undefined>;
  const named = sent?.paths ?? [];
  const paths = [...new Set(named.length > 0 ? named : pathsOf(desc, message))].sort();
  const masked = clone(desc, message);
  Object.assign(masked, { [mask.localName]: create(FieldMaskSchema, { paths }) });
  return toBinary(desc, masked, DECLARED_ONLY);
}

/** The mask paths of the fields that a request without a mask sets. */
function pathsOf(desc: DescMessage, message: Message): string[] {
  return desc.fields.flatMap((field) => {
    if (isMask(field) || !isFieldSet(message, field)) return [];
    if (field.fieldKind !== 'message' || !isDeclared(field.message)) return [field.name];
    const inner = fieldValue(message, field) as Message | undefined;
    return inner === undefined ? [] : pathsOf(field.message, inner).map((path) => `${field.name}.${path}`);
  });
}
