/** Every rpc as a REST route: paths, callers, request and answer. */

import { type DescField, type DescFile, type DescMethod, type DescService, getOption } from '@bufbuild/protobuf';
import { http } from '../../gen/google/api/annotations_pb.js';
import { BodyRule, Credential, type Policy, policy, RestStream, SizeClass } from '../../gen/spandrel/v1/options_pb.js';
import {
  isInlineMessage,
  isMask,
  requestTargets,
  restName,
  routeOf,
  type Target,
  valueFieldOf,
} from '../../src/rpc/rest-shape.ts';
import { type Kind, kindOf } from './kinds.ts';
import { type AnsweredMember, answeredMembers, commentOf, type SentMember, sentMembers } from './members.ts';

export type Operation = {
  readonly method: DescMethod;
  readonly rules: Policy;
  /** The description. */
  readonly about: string;
  /** The comment's text on own errors; may be empty. */
  readonly errors: string;
  /** The preferred route is first. */
  readonly routes: readonly Route[];
  readonly sent: Readonly<Record<Target, readonly SentMember[]>>;
  readonly takesBody: boolean;
  /** Whether null in the body unsets a member, counts as not sent, or is refused. */
  readonly nulls: 'refused' | 'unset' | 'absent';
  /** The media type of a success. */
  readonly mediaType: string;
  /** The forms of an answer; several only for a oneof. */
  readonly answers: readonly Answer[];
};

export type Route = {
  readonly verb: string;
  /** Parameters have their names in errors. */
  readonly template: string;
  /** For a route for older clients: members its answer lacks. */
  readonly legacy: { readonly omit: readonly string[] } | null;
};

export type Answer =
  /** One object with its own schema, or another value. */
  | { readonly form: 'value'; readonly kind: Kind }
  | { readonly form: 'members'; readonly members: readonly AnsweredMember[] };

export function operationsOf(
  files: readonly DescFile[],
): { readonly service: DescService; readonly operations: Operation[] }[] {
  return files
    .flatMap(({ services }) => services)
    .map((service) => ({ service, operations: service.methods.map(readOperation) }));
}

function readOperation(method: DescMethod): Operation {
  const rules = getOption(method, policy);
  const rule = getOption(method, http);
  const [about = '', errors = ''] = commentOf(method).split(/ ?Errors: /);
  const current = [rule, ...rule.additionalBindings].map((each): Route => {
    const { verb, template } = routeOf(each);
    return { verb, template: nameParameters(method, template), legacy: null };
  });
  const legacy = rules.legacy.map(
    ({ path, omit }): Route => ({ verb: 'GET', template: nameParameters(method, path), legacy: { omit } }),
  );
  const targets = requestTargets(method);
  const sentIn = (target: Target) => sentMembers(method.input.fields.filter((field) => targets.get(field) === target));
  return {
    method,
    rules,
    about,
    errors,
    routes: [...current, ...legacy],
    sent: { param: sentIn('param'), query: sentIn('query'), json: sentIn('json') },
    takesBody: rule.body !== '',
    nulls: nullsOf(method, rules),
    mediaType: MEDIA_TYPES.get(rules.stream) ?? 'application/json',
    answers: answersOf(method, rules),
  };
}

const MEDIA_TYPES: ReadonlyMap<RestStream, string> = new Map([
  [RestStream.LINES, 'application/x-ndjson'],
  [RestStream.EVENTS, 'text/event-stream'],
]);

function nullsOf({ input }: DescMethod, { nullIsAbsent, nullUnsets, body }: Policy): Operation['nulls'] {
  if (nullIsAbsent || body === BodyRule.TOLERANT) return 'absent';
  return nullUnsets || input.fields.some(isMask) ? 'unset' : 'refused';
}

function answersOf({ output }: DescMethod, { stream }: Policy): Answer[] {
  // The first field is the line, others continue it; `id` is not in the data of an event.
  const [first] = output.fields;
  if (stream === RestStream.LINES && first) return [{ form: 'value', kind: kindOf(first) }];
  if (stream === RestStream.EVENTS) {
    return [{ form: 'members', members: answeredMembers(output).filter(({ name }) => name !== 'id') }];
  }
  const bare = valueFieldOf(output);
  if (bare) return [{ form: 'value', kind: kindOf(bare) }];
  const isWhole = output.fields.length > 0 && output.fields.every(isInlineMessage);
  const isOne = output.fields.length === 1 || output.fields.every(isVariant);
  if (isWhole && isOne) return output.fields.map((field) => ({ form: 'value', kind: kindOf(field) }));
  return [{ form: 'members', members: answeredMembers(output) }];
}

function isVariant(field: DescField): boolean {
  return field.oneof !== undefined;
}

function nameParameters({ input }: DescMethod, template: string): string {
  return template.replace(/\{([a-z0-9_]+)\}/g, (_, name: string) => {
    const field = input.fields.find((each) => each.name === name);
    if (!field) throw new Error(`${input.typeName}: ${template} names an unknown field`);
    return `{${restName(field)}}`;
  });
}

/** The required credential, as a clause. */
export function callersOf({ credential, permission, projectKeys }: Policy): string {
  const needs = permission === '' ? '' : `, \`${permission}\``;
  if (credential === Credential.OPEN) return 'open to anybody';
  if (credential === Credential.PROJECT) return `credential of a project${needs}`;
  return `credential of an organization${needs}${projectKeys ? '; project keys too' : ''}`;
}

/** Other properties of its requests, one sentence each. */
export function particularsOf({
  rules: { size, body, idempotent, stream, refuseUnknown, conditional },
  nulls,
}: Operation): string[] {
  return [
    size === SizeClass.INGEST ? 'The body may have 10 MiB (`SPANDREL_MAX_BODY_BYTES`).' : '',
    size === SizeClass.REPORT ? 'The body may have 8 MiB.' : '',
    size === SizeClass.EVALUATION ? 'The body may have 10 MiB.' : '',
    body === BodyRule.TOLERANT ? 'Items are judged one by one: a bad one costs only itself.' : '',
    idempotent ? '`Idempotency-Key` is honoured.' : '',
    stream === RestStream.LINES
      ? 'Answers with lines of JSON, `application/x-ndjson`; each is one of the following.'
      : '',
    stream === RestStream.EVENTS
      ? 'Answers with Server-Sent Events, `text/event-stream`: the type of an event is the name of the one member that it has.'
      : '',
    conditional
      ? 'The answer has an `ETag`; a request with it in `If-None-Match` is answered with 304, without a body.'
      : '',
    nulls === 'absent' ? 'A member that is null counts as not sent.' : '',
    refuseUnknown ? 'Unknown members refuse the request.' : '',
  ].filter((each) => each !== '');
}
