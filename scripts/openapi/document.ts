/** The contract as an OpenAPI 3.1 document, from the protos; paths of OTLP and those without an rpc are added. */

import type { DescFile, DescService } from '@bufbuild/protobuf';
import { Credential } from '../../gen/spandrel/v1/options_pb.js';
import { hasRequiredField } from '../../src/rpc/field-rules.ts';
import { restFlags } from '../../src/rpc/rest-shape.ts';
import { exampleOf, type Members, sentExample } from '../contract/examples.ts';
import { commentOf, type SentMember } from '../contract/members.ts';
import {
  type Answer,
  callersOf,
  type Operation,
  operationsOf,
  particularsOf,
  type Route,
} from '../contract/operations.ts';
import { OTHER_PATHS, OTHER_RESPONSES, OTHER_TAG } from './other-paths.ts';
import { OTLP_TAG, otlpResponses, otlpSchemas, writeOtlpPaths } from './otlp.ts';
import { createRefusals, ERROR_SCHEMAS, type RefusalWriter, SECURITY_SCHEMES, securityOf } from './refusals.ts';
import { createSchemas, type Schema, type Schemas } from './schemas.ts';

const INFO = {
  title: 'Spandrel',
  version: '1.0.0',
  summary: 'Traces, evaluators, keys, webhooks and the event log of language-model applications over HTTP and JSON.',
  description: `Every route is also an rpc over gRPC, gRPC-Web and Connect on the same port.

Every answer has an \`X-Request-Id\` and, unless tracing is off, a \`traceparent\`. Unknown members of a request are ignored
unless the operation says that it refuses them. Before
a route is looked up, a request may be refused with 414 (its line has more than 8 KiB), 417 (an expectation other than
\`100-continue\`) or 431 (its headers have more than 16 KiB); then with 404 \`route_not_found\` or 405 \`method_not_allowed\`.`,
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
};

export function writeDocument(files: readonly DescFile[]): Schema {
  const schemas = createSchemas();
  const refusals = createRefusals();
  const services = operationsOf(files);
  const paths: Record<string, Record<string, Schema>> = {};
  for (const { service, operations } of services) {
    for (const operation of operations) {
      for (const [index, route] of operation.routes.entries()) {
        const item = paths[route.template] ?? {};
        paths[route.template] = item;
        item[route.verb.toLowerCase()] = writeOperation({ service, operation, route, index }, { schemas, refusals });
      }
    }
  }
  return {
    openapi: '3.1.0',
    info: INFO,
    servers: [{ url: '/' }],
    tags: [
      ...services.map(({ service }) => ({ name: tagOf(service), description: commentOf(service) })),
      OTLP_TAG,
      OTHER_TAG,
    ],
    paths: { ...paths, ...writeOtlpPaths([PROJECT_ID]), ...OTHER_PATHS },
    components: {
      schemas: { ...schemas.components(), ...otlpSchemas(), ...ERROR_SCHEMAS },
      responses: { ...refusals.components(), ...otlpResponses(), ...OTHER_RESPONSES },
      parameters: PARAMETERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

const PROJECT_ID: Schema = { $ref: '#/components/parameters/ProjectId' };

const PARAMETERS: { readonly [name: string]: Schema } = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'The same request under the same key is done once within a day, and answered the same.',
    schema: { type: 'string', minLength: 8, maxLength: 255 },
  },
  ProjectId: {
    name: 'X-Project-Id',
    in: 'header',
    description: 'The project, with an API key that reaches several.',
    schema: { type: 'string' },
  },
};

type OperationContext = {
  readonly service: DescService;
  readonly operation: Operation;
  readonly route: Route;
  readonly index: number;
};

function writeOperation(context: OperationContext, writers: { schemas: Schemas; refusals: RefusalWriter }): Schema {
  const { service, operation, route, index } = context;
  const { method, about, rules } = operation;
  const { schemas, refusals } = writers;
  const isMain = index === 0;
  const success = [String(rules.successStatus), writeSuccess({ operation, route, isMain }, schemas)] as const;
  const refused = refusals.write(operation).map(({ status, response }) => [String(status), response] as const);
  return {
    operationId: `${method.localName}${index === 0 ? '' : index + 1}`,
    tags: [tagOf(service)],
    summary: firstSentence(about),
    description: describe(operation),
    ...(route.legacy && { deprecated: true }),
    security: securityOf(operation),
    parameters: writeParameters({ operation, route, isMain }, schemas),
    ...(operation.takesBody && { requestBody: writeBody({ operation, route, isMain }, schemas) }),
    responses: Object.fromEntries([success, ...(rules.conditional ? [NOT_MODIFIED] : []), ...refused]),
  };
}

const NOT_MODIFIED = [
  '304',
  { description: 'The answer is still the one that If-None-Match names; it is not sent again.' },
] as const;

function describe(operation: Operation): string {
  const { method, about, rules } = operation;
  const callers = callersOf(rules);
  return [
    about,
    `\`${method.parent.name}.${method.name}\`; ${callers}.`,
    ...(rules.asks.length > 0
      ? [`It requires ${rules.asks.map((each) => `\`${each}\``).join(', ')} at the scope of the request.`]
      : []),
    ...particularsOf(operation),
  ].join('\n\n');
}

/** The main route has the examples. */
type Shown = { readonly operation: Operation; readonly route: Route; readonly isMain: boolean };

function writeParameters({ operation, route: { template }, isMain }: Shown, schemas: Schemas): Schema[] {
  const { sent, rules, method } = operation;
  const example = isMain ? exampleOf(method).request : {};
  const write = (location: 'path' | 'query') => (member: SentMember) => ({
    name: member.name,
    in: location,
    ...((location === 'path' || member.limits.required) && { required: true }),
    description: member.comment,
    ...shapeOf(member, { ...schemas.ofParameter(member), ...(location === 'path' && { minLength: 1 }) }, example),
  });
  const headers = [...sent.query, ...sent.json].flatMap((member) => {
    const { header } = restFlags(member.field);
    return header === '' ? [] : [{ ...write('query')(member), name: header, in: 'header' }];
  });
  return [
    ...sent.param.filter(({ name }) => template.includes(`{${name}}`)).map(write('path')),
    ...sent.query.map(write('query')),
    ...headers,
    ...(rules.credential === Credential.PROJECT ? [PROJECT_ID] : []),
    ...(rules.idempotent ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
  ];
}

/** Lists are separated by commas; JSON is sent as text. */
function shapeOf({ kind, name }: SentMember, schema: Schema, examples: Members): Schema {
  const value = name === null ? undefined : examples[name];
  const example = value === undefined ? {} : { example: value };
  if (kind.kind === 'array') return { style: 'form', explode: false, schema, ...example };
  const isJson = kind.kind === 'json' || kind.kind === 'lists';
  return isJson ? { content: { 'application/json': { schema, ...example } } } : { schema, ...example };
}

function writeBody({ operation, route: { verb }, isMain }: Shown, schemas: Schemas): Schema {
  const { sent, nulls, method } = operation;
  const example = isMain ? { example: sentExample(operation).body } : {};
  return {
    required: verb === 'PATCH' || hasRequiredField(method.input),
    content: { 'application/json': { schema: schemas.ofSentMembers(sent.json, nulls), ...example } },
  };
}

function writeSuccess({ operation, route: { legacy }, isMain }: Shown, schemas: Schemas): Schema {
  if (operation.rules.successStatus === NO_CONTENT) return { description: commentOf(operation.method.output) };
  const example = isMain ? { example: exampleOf(operation.method).response } : {};
  const variants = operation.answers.map((answer) => writeAnswer(answer, legacy?.omit ?? [], schemas));
  const [schema = {}] = variants;
  return {
    description: commentOf(operation.method.output),
    content: { [operation.mediaType]: { schema: variants.length > 1 ? { anyOf: variants } : schema, ...example } },
  };
}

const NO_CONTENT = 204;

function writeAnswer(answer: Answer, omit: readonly string[], schemas: Schemas): Schema {
  if (answer.form === 'value') {
    const { kind } = answer;
    return schemas.ofAnswer(kind.kind === 'object' ? { ...kind, omit: [...kind.omit, ...omit] } : kind);
  }
  return schemas.ofAnsweredMembers(answer.members.filter(({ name }) => name === null || !omit.includes(name)));
}

/** "TraceService" -> "Traces" would need a grammar; the word before "Service" will do. */
function tagOf({ name }: DescService): string {
  return name.replace(/Service$/, '');
}

function firstSentence(text: string): string {
  return /^.*?\.(?= |$)/.exec(text)?.[0].slice(0, -1) ?? text;
}
