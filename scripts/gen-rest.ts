/**
 * Writes docs/rest.md from the contract: every route with what may be sent and what is answered. What it says stands in
 * the protos (routes, policies, field rules and comments) and in the catalogue of failures, so it is never stale.
 */

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import {
  createFileRegistry,
  type DescFile,
  type DescMessage,
  type DescMethod,
  type DescService,
  fromBinary,
  getOption,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { http } from '../gen/google/api/annotations_pb.js';
import { BodyRule, Credential, ErrorFamily, type Policy, policy, SizeClass } from '../gen/spandrel/v1/options_pb.js';
import { Fault, isFaultCode } from '../src/domain/fault.ts';
import { requestTargets, routeOf, type Target } from '../src/rpc/rest-shape.ts';
import { familyOfPolicy, statusOf } from '../src/transport/rest/errors.ts';
import { type CommentOf, readComments } from './proto-comments.ts';
import { answeredRow, isInlineMessage, membersOf, objectOf, sentRow } from './rest-fields.ts';

const INTRODUCTION = `# Routes and their parameters

Generated from \`proto/\` by \`npm run gen\`: change it there. Who may call what is told in [access.md](access.md), how to use the same
services over gRPC and Connect in [clients.md](clients.md).

- **Credentials.** \`Authorization: Bearer\`, \`X-Auth-Token\`, or the password of \`Authorization: Basic <projectId>:<token>\`. A *project* route
  takes the key of a project, or an API key that holds the permission there; one that reaches several projects names its project in
  \`X-Project-Id\`. An *organization* route takes API keys.
- **Bodies** are JSON objects in UTF-8 with \`Content-Type: application/json\`, at most 1 MiB unless the route says otherwise; they may be packed
  with gzip. \`PATCH\` changes the members that are sent and leaves the others.
- **Types.** An integer is whole and at most 2^53 - 1 in amount. A timestamp is a string in the form of RFC 3339; names that end in \`_at\` beside the
  type integer are milliseconds since the Unix epoch. *JSON* is any JSON unless the text says what. In
  answers an object is null where there is none.
- **Lists** give at most \`limit\` records, and in \`next_cursor\` or \`nextCursor\` what \`cursor\` of the next request must be; null on the last page.
- **Errors** carry a \`code\` for programs and a \`message\` for people: flat ones at top level, canonical ones in one \`error\` object. A route lists
  those of its own. Every route may also answer 400 \`malformed_request\`; 401 \`missing_credentials\`, \`invalid_credentials\`,
  \`credential_class_mismatch\`, \`project_scope_required\`, \`unknown_project\`; 403 \`insufficient_permissions\`; 413 \`payload_too_large\`; 422
  \`validation_error\` (400 in the canonical family) with every field that is wrong; 503 \`unavailable\` with \`Retry-After\`.
- **Idempotency-Key**, where a route honours it: 8 to 255 printable characters. The same request under the same key is done once within a day and
  answered the same; another request under it is 409 \`idempotency_error\`.
`;

/** Sent in a place of a request, as headings of the tables. */
const PLACES: readonly (readonly [Target, string])[] = [
  ['param', 'in the path'],
  ['query', 'in the query'],
  ['json', 'in the body'],
];

const [path = 'docs/rest.md'] = process.argv.slice(2);
writeFileSync(path, writePage(readContract()));

/** The files of the contract with their comments, which only an image has. */
function readContract(): DescFile[] {
  const built = spawnSync('buf', ['build', '-o', '-#format=binpb'], { maxBuffer: 2 ** 26 });
  if (built.status !== 0) throw new Error(`buf build: ${built.stderr}`);
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, built.stdout));
  return [...registry.files].filter(({ proto }) => proto.package === 'spandrel.v1');
}

function writePage(files: readonly DescFile[]): string {
  const commentOf = readComments(files);
  const services = files.flatMap((file) => file.services);
  const routes = services.map((service) => writeService(service, commentOf));
  const methods = services.flatMap((service) => service.methods);
  const sent = objectsOf(methods.map(({ input }) => input));
  const all = [...new Set([...sent, ...objectsOf(methods.map(({ output }) => output))])];
  const objects = all.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return [
    INTRODUCTION,
    `${services.map(writeIndex).join('\n')}\n`,
    ...routes,
    '## Objects\n',
    ...objects.map((desc) => (sent.has(desc) ? writeSentObject(desc, commentOf) : writeObject(desc, commentOf))),
  ].join('\n');
}

/** Where each route of a service stands on the page. */
function writeIndex(service: DescService): string {
  const links = service.methods.map((method) => {
    const { verb, template } = routeOf(getOption(method, http));
    const heading = `${verb} ${template}`;
    const anchor = heading
      .toLowerCase()
      .replaceAll(' ', '-')
      .replace(/[^a-z0-9_-]/g, '');
    return `[${heading}](#${anchor})`;
  });
  return `- ${service.name}: ${links.join(', ')}`;
}

function writeService(service: DescService, commentOf: CommentOf): string {
  const routes = service.methods.map((method) => writeMethod(method, commentOf));
  return [`## ${service.name}\n`, `${commentOf(service)}\n`, ...routes].join('\n');
}

function writeMethod(method: DescMethod, commentOf: CommentOf): string {
  const rules = getOption(method, policy);
  const rule = getOption(method, http);
  const [about = '', errors = ''] = commentOf(method).split(/ ?Errors: /);
  const [main, ...others] = [rule, ...rule.additionalBindings].map((each) => {
    const { verb, template } = routeOf(each);
    return `\`${verb} ${template}\``;
  });
  const legacy = rules.legacy.map(({ path: old }) => `\`GET ${old}\` (deprecated)`);
  const also = [...others, ...legacy];
  return [
    `### ${main}\n`,
    `${about}\n`,
    ...(also.length > 0 ? [`- Also ${also.join(', ')}.`] : []),
    `- \`${method.parent.name}.${method.name}\`; ${callers(rules)}.`,
    ...particulars(rules).map((each) => `- ${each}`),
    ...(errors === '' ? [] : [`- Errors: ${withStatuses(errors, rules)}`]),
    '',
    ...writeRequest(method, commentOf),
    ...writeAnswer(method, commentOf),
  ].join('\n');
}

function callers({ credential, permission, projectKeys }: Policy): string {
  const needs = permission === '' ? '' : `, \`${permission}\``;
  if (credential === Credential.OPEN) return 'open to anybody';
  if (credential === Credential.PROJECT) return `credential of a project${needs}`;
  return `credential of an organization${needs}${projectKeys ? '; project keys too' : ''}`;
}

function particulars(rules: Policy): string[] {
  const { errors, size, idempotent, nullIsAbsent, body } = rules;
  return [
    `${errors === ErrorFamily.CANONICAL ? 'Canonical' : 'Flat'} errors.`,
    size === SizeClass.INGEST ? 'The body may have 10 MiB (`SPANDREL_MAX_BODY_BYTES`).' : '',
    size === SizeClass.REPORT ? 'The body may have 8 MiB.' : '',
    body === BodyRule.TOLERANT ? 'Items are judged one by one: a bad one costs only itself.' : '',
    idempotent ? '`Idempotency-Key` is honoured.' : '',
    nullIsAbsent ? 'A member that is null counts as not sent.' : '',
  ].filter((each) => each !== '');
}

/** Replaces the gRPC status in front of a code by that of HTTP. A comment that names an unknown code does not compile. */
function withStatuses(errors: string, rules: Policy): string {
  return errors
    .replace(/(?:\b([A-Z]+(?:_[A-Z]+)*) )?\b([a-z]+(?:_[a-z]+)+)\b/g, (text, status: string, code: string) => {
      if (isFaultCode(code)) return `${httpStatus(code, rules)} \`${code}\``;
      if (status !== undefined) throw new Error(`a comment names the error ${code}, which is not in the catalogue`);
      return text;
    })
    .replace(/\bUNAVAILABLE\b/g, '503 `unavailable`');
}

/** A tolerant body of which nothing is left is malformed, in either family. */
function httpStatus(code: Fault['code'], rules: Policy): number {
  if (code === 'validation_error' && rules.body === BodyRule.TOLERANT) return 400;
  return statusOf(new Fault(code, ''), familyOfPolicy(rules));
}

function writeRequest(method: DescMethod, commentOf: CommentOf): string[] {
  const targets = requestTargets(method);
  return PLACES.flatMap(([target, heading]) => {
    const fields = membersOf(method.input).filter((field) => targets.get(field) === target);
    if (fields.length === 0) return [];
    const rows = fields.map((field) => sentRow(field, commentOf));
    return [`| ${heading} | type | limits | |`, '|---|---|---|---|', ...rows, ''];
  });
}

/** An answer that is one object is told by its name. */
function writeAnswer(method: DescMethod, commentOf: CommentOf): string[] {
  const { successStatus } = getOption(method, policy);
  const { fields } = method.output;
  if (fields.length === 0) return [`Answers ${successStatus} with \`{}\`.\n`];
  if (fields.every(isInlineMessage)) {
    const names = fields.map(({ message }) => linkTo(message));
    return [`Answers ${successStatus} with ${names.join(' or ')}.\n`];
  }
  const rows = membersOf(method.output).map((field) => answeredRow(field, commentOf));
  return [`| answers ${successStatus} | type | |`, '|---|---|---|', ...rows, ''];
}

function linkTo({ name }: DescMessage): string {
  return `[${name}](#${name.toLowerCase()})`;
}

/** Everything that is a member somewhere, or stands for a whole answer. */
function objectsOf(roots: readonly DescMessage[]): ReadonlySet<DescMessage> {
  const found = new Set<DescMessage>();
  const visit = (desc: DescMessage) => {
    if (found.has(desc)) return;
    found.add(desc);
    for (const field of membersOf(desc)) visitObject(objectOf(field));
  };
  const visitObject = (desc: DescMessage | null) => {
    if (desc) visit(desc);
  };
  for (const root of roots) {
    const inline = root.fields.filter(isInlineMessage).map(({ message }) => message);
    for (const desc of [...inline, ...membersOf(root).flatMap((field) => objectOf(field) ?? [])]) visit(desc);
  }
  return found;
}

function writeSentObject(desc: DescMessage, commentOf: CommentOf): string {
  const rows = membersOf(desc).map((field) => sentRow(field, commentOf));
  return [
    `### ${desc.name}\n`,
    `${commentOf(desc)}\n`,
    '| member | type | limits | |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function writeObject(desc: DescMessage, commentOf: CommentOf): string {
  const rows = membersOf(desc).map((field) => answeredRow(field, commentOf));
  return [`### ${desc.name}\n`, `${commentOf(desc)}\n`, '| member | type | |', '|---|---|---|', ...rows, ''].join('\n');
}
