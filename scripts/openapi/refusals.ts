/** Refusals as OpenAPI responses: components for those a policy implies, inline for one operation's. */

import { STATUS_CODES } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { Credential, ErrorFamily } from '../../gen/spandrel/v1/options_pb.js';
import type { FaultCode } from '../../src/domain/fault.ts';
import type { Operation } from '../contract/operations.ts';
import { refusalsOf } from '../contract/refusals.ts';
import type { Schema } from './schemas.ts';

export type Refusal = { readonly status: number; readonly response: Schema };

export type RefusalWriter = {
  write(operation: Operation): Refusal[];
  /** All referenced components, by name. */
  components(): { readonly [name: string]: Schema };
};

export function createRefusals(): RefusalWriter {
  const shared = new Map<string, Schema>();
  return {
    write(operation) {
      const family = operation.rules.errors === ErrorFamily.CANONICAL ? 'Canonical' : 'Flat';
      return [...refusalsOf(operation)].map(([status, { codes, isUsual }]) => {
        const response = writeRefusal(family, status, codes);
        return {
          status,
          response: isUsual || codes.length === 1 ? share(`${family}${nameOf(status, codes)}`, response) : response,
        };
      });
    },
    components: () => Object.fromEntries([...shared].toSorted(([one], [other]) => (one < other ? -1 : 1))),
  };

  /** Policies may give one status different codes: further variants get a number. */
  function share(stem: string, response: Schema): Schema {
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? stem : `${stem}${number}`;
      const known = shared.get(name);
      if (known && !isDeepStrictEqual(known, response)) continue;
      shared.set(name, response);
      return { $ref: `#/components/responses/${name}` };
    }
  }
}

/** Names a status with one code by the code. */
function nameOf(status: number, codes: readonly FaultCode[]): string {
  const [code = '', ...more] = codes;
  return more.length === 0 ? pascal(code) : (STATUS_CODES[status] ?? '').replaceAll(' ', '');
}

function writeRefusal(family: 'Flat' | 'Canonical', status: number, codes: readonly FaultCode[]): Schema {
  const code = { enum: codes.toSorted() };
  const schema = family === 'Flat' ? { properties: { code } } : { properties: { error: { properties: { code } } } };
  return {
    description: `${STATUS_CODES[status]}: ${codes.map((each) => `\`${each}\``).join(', ')}.`,
    ...headersOf(status),
    content: {
      'application/json': { schema: { allOf: [{ $ref: `#/components/schemas/${family}Error` }, schema] } },
    },
  };
}

export function headersOf(status: number): Schema {
  const headers: Record<string, Schema> = {};
  if (status === 401) headers['WWW-Authenticate'] = header('Bearer realm="spandrel"');
  if (status === 429 || status === 503)
    headers['Retry-After'] = header('After how many seconds to try again.', 'integer');
  return Object.keys(headers).length > 0 ? { headers } : {};
}

function header(description: string, type = 'string'): Schema {
  return { description, required: true, schema: { type } };
}

/** Both error families. */
export const ERROR_SCHEMAS = {
  FlatError: {
    type: 'object',
    description:
      'What routes outside of webhooks and gateway refuse with. Members of a code stand beside the others: `target`, `fields` and `reasons` of `validation_error`, for example.',
    properties: {
      error: { type: 'string', description: 'A phrase for the status, or the code.' },
      message: { type: 'string', description: 'A sentence for people; it may change.' },
      code: { type: 'string', description: 'What programs should read.' },
      ...problemMembers(),
      trace_id: { type: 'string', pattern: '^[0-9a-f]{32}$' },
      span_id: { type: 'string', pattern: '^[0-9a-f]{16}$' },
      trace: {
        type: 'object',
        description: 'The same ids under other names.',
        properties: { traceId: { type: 'string' }, spanId: { type: 'string' }, postedTraceId: { type: 'string' } },
        required: ['traceId', 'spanId'],
      },
    },
    required: ['error', 'message', 'code'],
    additionalProperties: true,
  },
  CanonicalError: {
    type: 'object',
    description: 'What routes of webhooks and gateway refuse with.',
    properties: {
      error: {
        type: 'object',
        properties: {
          type: { type: 'string', description: 'The broad class of the code.' },
          code: { type: 'string', description: 'What programs should read.' },
          message: { type: 'string', description: 'A sentence for people; it may change.' },
          meta: {
            type: 'object',
            description: 'Members of the code.',
            properties: problemMembers(),
            additionalProperties: true,
          },
          trace_id: { type: 'string', pattern: '^[0-9a-f]{32}$' },
          span_id: { type: 'string', pattern: '^[0-9a-f]{16}$' },
        },
        required: ['type', 'code', 'message'],
      },
    },
    required: ['error'],
  },
  Problem: {
    type: 'object',
    description: 'One field that is wrong.',
    properties: {
      code: { const: 'schema_failure' },
      message: { type: 'string' },
      meta: {
        type: 'object',
        properties: {
          field: { type: 'string', description: 'A dotted path with array indexes; `(root)` is the whole document.' },
          type: {
            type: 'string',
            enum: [
              ...['invalid_type', 'too_small', 'too_big', 'invalid_length', 'invalid_format', 'invalid_enum_value'],
              'custom',
            ],
          },
          message: { type: 'string' },
          expected: { description: 'What would be right.' },
          received: { type: 'string', description: 'The type that was sent, or the value for one of a list.' },
        },
        required: ['field', 'type', 'message'],
      },
    },
    required: ['code', 'message', 'meta'],
  },
};

function problemMembers(): Schema {
  return {
    target: { type: 'string', enum: ['json', 'query', 'param', 'header'], description: 'Where the first problem is.' },
    fields: { type: 'array', items: { type: 'string' }, description: 'The paths of the fields that are wrong.' },
    reasons: { type: 'array', items: { $ref: '#/components/schemas/Problem' }, description: 'At most 20.' },
  };
}

function pascal(code: string): string {
  return code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The class of key that an operation takes; both where each is a class of its own. */
export function securityOf({ rules }: { readonly rules: SecurityRules }): readonly Schema[] {
  const { credential, permission, projectKeys } = rules;
  const roles = permission === '' ? [] : [permission];
  switch (credential) {
    case Credential.PROJECT:
      return [{ project_api_key: roles }];
    case Credential.ORGANIZATION:
      return [{ organization_api_key: roles }, ...(projectKeys ? [{ project_api_key: roles }] : [])];
    default:
      return [];
  }
}

type SecurityRules = Pick<Operation['rules'], 'credential' | 'permission' | 'projectKeys'>;

/** By the names that refusals give the classes of keys. */
export const SECURITY_SCHEMES: { readonly [name: string]: Schema } = {
  project_api_key: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Auth-Token',
    description: `The key of a project, or an API key that may act in one. \`Authorization\` takes it as well, as \`Bearer\` or as
the password of \`Basic\`, whose user is the id of the project.`,
  },
  organization_api_key: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key of the organization. `X-Auth-Token` takes it as well, and `Basic` as the password.',
  },
};
