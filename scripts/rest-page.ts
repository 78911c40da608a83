/** Writes docs/rest.md: every route with its request and answer. */

import type { DescFile, DescMessage, DescService } from '@bufbuild/protobuf';
import { ErrorFamily } from '../gen/spandrel/v1/options_pb.js';
import type { Target } from '../src/rpc/rest-shape.ts';
import { exampleOf, printJson, sentExample } from './contract/examples.ts';
import type { Kind } from './contract/kinds.ts';
import type { Limits, Range } from './contract/limits.ts';
import { type AnsweredMember, answeredMembers, commentOf, type SentMember, sentMembers } from './contract/members.ts';
import { type Answer, callersOf, type Operation, operationsOf, particularsOf } from './contract/operations.ts';
import { errorsText } from './contract/refusals.ts';

const INTRODUCTION = `# Routes and their parameters

Generated from \`proto/\` by \`npm run gen\`: change it there. A server says the same to programs in the OpenAPI document at \`/openapi.json\`
(\`gen/openapi.json\`), and shows it as a page at \`/docs\`. Who may call what is described in [access.md](access.md), how to use the same services
over gRPC and Connect in [grpc.md](grpc.md).

- **Credentials.** \`Authorization: Bearer\`, \`X-Auth-Token\`, or the password of \`Authorization: Basic <projectId>:<token>\`. A *project* route
  takes the key of a project, or an API key that holds the permission there; one that reaches several projects names its project in
  \`X-Project-Id\`. An *organization* route takes API keys.
- **Bodies** are JSON objects in UTF-8 with \`Content-Type: application/json\`, at most 1 MiB unless the route says otherwise; they may be packed
  with gzip. \`PATCH\` changes the members that are sent and leaves the others.
- **Types.** An integer is whole and at most 2^53 - 1 in amount. A timestamp is a string in the form of RFC 3339; *milliseconds* are those
  since the Unix epoch. *JSON* is any JSON unless the text says what.
- **Lists** give at most \`limit\` records, and in \`next_cursor\` or \`nextCursor\` what \`cursor\` of the next request must be; null on the last page.
- **Errors** carry a \`code\` for programs and a \`message\` for people: flat ones at top level, canonical ones in one \`error\` object. A route lists
  those of its own. Every route may also answer 400 \`malformed_request\`; 401 \`missing_credentials\`, \`invalid_credentials\`,
  \`credential_class_mismatch\`, \`project_scope_required\`, \`unknown_project\`; 403 \`insufficient_permissions\`; 413 \`payload_too_large\`; 422
  \`validation_error\` (400 in the canonical family) with every field that is wrong; 503 \`unavailable\` with \`Retry-After\`.
- **Examples** show a request to the route and the answer; of a stream, its first line or event. Secrets and cursors are cut short.
- **Idempotency-Key**, where a route honours it: 8 to 255 printable characters. The same request under the same key is done once within a day and
  answered the same; another request under it is 409 \`idempotency_error\`.
`;

/** Table headings by part of the request. */
const PLACES: readonly (readonly [Target, string])[] = [
  ['param', 'in the path'],
  ['query', 'in the query'],
  ['json', 'in the body'],
];

type Service = { readonly service: DescService; readonly operations: readonly Operation[] };

export function writeRestPage(files: readonly DescFile[]): string {
  const services = operationsOf(files);
  const operations = services.flatMap((each) => each.operations);
  const sent = new Set(PLACES.flatMap(([target]) => operations.flatMap((each) => sentObjects(each.sent[target]))));
  const answered = new Set(operations.flatMap(({ answers }) => answers.flatMap(answeredObjects)));
  const objects = [...new Set([...sent, ...answered])].toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return [
    INTRODUCTION,
    `${services.map(writeIndex).join('\n')}\n`,
    ...services.map(writeService),
    '## Objects\n',
    ...objects.flatMap((desc) => writeObject(desc, { isSent: sent.has(desc), isAnswered: answered.has(desc) })),
  ].join('\n');
}

function headingOf({ routes: [main] }: Operation): string {
  return `${main?.verb} ${main?.template}`;
}

/** Links to the routes of a service. */
function writeIndex({ service, operations }: Service): string {
  const links = operations.map((operation) => {
    const heading = headingOf(operation);
    const anchor = heading
      .toLowerCase()
      .replaceAll(' ', '-')
      .replace(/[^a-z0-9_-]/g, '');
    return `[${heading}](#${anchor})`;
  });
  return `- ${service.name}: ${links.join(', ')}`;
}

function writeService({ service, operations }: Service): string {
  return [`## ${service.name}\n`, `${commentOf(service)}\n`, ...operations.map(writeOperation)].join('\n');
}

function writeOperation(operation: Operation): string {
  const { method, rules, about, routes, errors } = operation;
  const [, ...others] = routes;
  const also = others.map(({ verb, template, legacy }) => `\`${verb} ${template}\`${legacy ? ' (deprecated)' : ''}`);
  const family = `${rules.errors === ErrorFamily.CANONICAL ? 'Canonical' : 'Flat'} errors.`;
  return [
    `### \`${headingOf(operation)}\`\n`,
    `${about}\n`,
    ...(also.length > 0 ? [`- Also ${also.join(', ')}.`] : []),
    `- \`${method.parent.name}.${method.name}\`; ${callersOf(rules)}.`,
    ...[family, ...particularsOf(operation)].map((each) => `- ${each}`),
    ...(errors === '' ? [] : [`- Errors: ${errorsText(operation)}`]),
    '',
    ...PLACES.flatMap(([target, heading]) => writeSent(operation.sent[target], heading)),
    ...writeAnswers(operation),
    ...writeExample(operation),
  ].join('\n');
}

function writeSent(members: readonly SentMember[], heading: string): string[] {
  if (members.length === 0) return [];
  return [`| ${heading} | type | limits | |`, '|---|---|---|---|', ...members.map(sentRow), ''];
}

/** A request to the main route and its answer; of a stream, the first line or event of the answer. */
function writeExample(operation: Operation): string[] {
  const { verb, path, body } = sentExample(operation);
  const sent = body === null || Object.keys(body).length === 0 ? [] : ['', printJson(body)];
  const { response } = exampleOf(operation.method);
  const received = operation.rules.successStatus === 204 ? [] : ['```json', printJson(response), '```', ''];
  return ['```http', `${verb} ${path}`, ...sent, '```', '', ...received];
}

/** An answer of one object gets only its name. */
function writeAnswers({ answers, rules: { successStatus } }: Operation): string[] {
  const values = answers.flatMap((answer) => (answer.form === 'value' ? [answer.kind] : []));
  if (successStatus === 204) return ['Answers 204 without a body.\n'];
  if (values.length > 0) return [`Answers ${successStatus} with ${values.map(typeOf).join(' or ')}.\n`];
  const members = answers.flatMap((answer) => (answer.form === 'members' ? answer.members : []));
  if (members.length === 0) return [`Answers ${successStatus} with \`{}\`.\n`];
  return [`| answers ${successStatus} | type | |`, '|---|---|---|', ...members.map(answeredRow), ''];
}

/** All objects in an answer. */
function answeredObjects(answer: Answer): DescMessage[] {
  const kinds = answer.form === 'value' ? [answer.kind] : answer.members.map(({ kind }) => kind);
  return kinds.flatMap((kind) => objectsIn(kind, (desc) => answeredMembers(desc)));
}

function sentObjects(members: readonly SentMember[]): DescMessage[] {
  return members.flatMap(({ kind }) => objectsIn(kind, (desc) => sentMembers(desc.fields)));
}

type MembersOf = (desc: DescMessage) => readonly { readonly kind: Kind }[];

function objectsIn(kind: Kind, membersOf: MembersOf, found = new Set<DescMessage>()): DescMessage[] {
  if (kind.kind === 'array' || kind.kind === 'map') objectsIn(kind.of, membersOf, found);
  if (kind.kind === 'object' && !found.has(kind.desc)) {
    found.add(kind.desc);
    for (const member of membersOf(kind.desc)) objectsIn(member.kind, membersOf, found);
  }
  return [...found];
}

function writeObject(desc: DescMessage, { isSent, isAnswered }: { isSent: boolean; isAnswered: boolean }): string[] {
  const head = [`### ${desc.name}\n`, `${commentOf(desc)}\n`];
  const sent = isSent ? writeSent(sentMembers(desc.fields), isAnswered ? 'when sent' : 'member') : [];
  const rows = answeredMembers(desc).map(answeredRow);
  const answered = [`| ${isSent ? 'when answered' : 'member'} | type | |`, '|---|---|---|', ...rows, ''];
  return [...head, ...sent, ...(isAnswered ? answered : [])];
}

/** A row for a member of a request. */
function sentRow({ name, kind, limits, also, comment }: SentMember): string {
  const bounds = [limits.required ? '**required**' : '', ...boundsOf(limits)].filter((each) => each !== '');
  const type = [typeOf(kind), ...also.map((each) => (each === 'any' ? 'any JSON' : each))].join(' or ');
  return `| ${nameOf(name)} | ${type} | ${bounds.join('; ')} | ${comment} |`;
}

/** A row for a member of an answer. */
function answeredRow({ name, kind, comment, nullable, mayBeAbsent }: AnsweredMember): string {
  const empty = nullable ? ' or null' : '';
  const absent = mayBeAbsent && name !== null ? ', may be absent' : '';
  return `| ${nameOf(name)} | ${typeOf(kind)}${empty}${absent} | ${comment} |`;
}

function nameOf(name: string | null): string {
  return name === null ? 'any other' : `\`${name}\``;
}

function typeOf(kind: Kind): string {
  switch (kind.kind) {
    case 'array':
      return `array of ${typeOf(kind.of)}`;
    case 'map':
      return `object of ${typeOf(kind.of)} by name`;
    case 'lists':
      return 'object of arrays of string by name, or of objects of such arrays by key';
    case 'object': {
      const without = kind.omit.map((each) => `\`${each}\``).join(', ');
      return `[${kind.desc.name}](#${kind.desc.name.toLowerCase()})${without === '' ? '' : ` without ${without}`}`;
    }
    case 'enum':
      return kind.values.map((text) => `\`${text}\``).join(', ');
    case 'constant':
      return `\`${JSON.stringify(kind.value)}\``;
    case 'json':
      return 'JSON';
    default:
      return kind.kind;
  }
}

function boundsOf({ length, pattern, items, each, value }: Limits): string[] {
  return [
    length ? range(length, 'characters') : '',
    pattern === undefined ? '' : `\`${pattern.replaceAll('|', '\\|')}\``,
    items ? range(items, 'items') : '',
    ...(each ? boundsOf(each).map((bound) => (bound === '' ? '' : `each ${bound}`)) : []),
    value ? `${value.min ?? ''} to ${value.max ?? ''}` : '',
  ];
}

function range({ min, max }: Range, of: string): string {
  if (max === null) return `at least ${min} ${min === 1 ? of.slice(0, -1) : of}`;
  return min === null ? `at most ${max} ${of}` : `${min} to ${max} ${of}`;
}
