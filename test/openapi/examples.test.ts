/** The examples of the contract: every rpc has one, and the contract takes what it sends and has what it answers. */

import { readdirSync } from 'node:fs';
import { type DescFile, getOption } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { http } from '../../gen/google/api/annotations_pb.js';
import { RestStream } from '../../gen/spandrel/v1/options_pb.js';
import { EXAMPLES, exampleOf, readExamples, sentExample } from '../../scripts/contract/examples.ts';
import { type Operation, operationsOf } from '../../scripts/contract/operations.ts';
import { pathParameters, restName, routeOf } from '../../src/rpc/rest-shape.ts';
import { unknownMemberReasons } from '../../src/rpc/unknown-members.ts';
import { validate } from '../../src/rpc/validate.ts';
import { decodeMessage } from '../../src/transport/rest/decode.ts';
import type { JsonObject } from '../../src/transport/rest/json-object.ts';
import { answerCheck } from '../support/openapi/document.ts';
import { checkExchange } from '../support/openapi/exchange.ts';

/** The path of the only rpc that answers with events, in a JSON pointer. */
const TAIL = '~1api~1traces~1tail';

const STEMS = readdirSync(EXAMPLES).map((name) => name.replace(/\.json$/, ''));

const files = await Promise.all(
  STEMS.map(async (stem): Promise<DescFile> => {
    const module = await import(new URL(`../../gen/spandrel/v1/${stem}_pb.js`, import.meta.url).href);
    return module[`file_spandrel_v1_${stem}`];
  }),
);
const operations = operationsOf(files).flatMap((each) => each.operations);

/** Reads the request as the server reads what is sent to the main route. Throws a Fault for what it refuses. */
function readRequest(operation: Operation): void {
  const { method, rules } = operation;
  const { path, body } = sentExample(operation);
  const { nullIsAbsent, nullUnsets } = rules;
  const { template, constants } = routeOf(getOption(method, http));
  const query = new URLSearchParams(path.split('?')[1] ?? '');
  const { request } = exampleOf(method);
  const named = pathParameters(template).map((name): [string, string] => {
    const field = method.input.fields.find((each) => each.name === name);
    return [name, field === undefined ? '' : String(request[restName(field)])];
  });
  const parameters = { ...constants, ...Object.fromEntries(named) };
  const parts = { parameters, query, body: body as JsonObject | null, nullIsAbsent, nullUnsets };
  const decoded = decodeMessage(method.input, parts);
  validate(method, decoded, body === null ? [] : unknownMemberReasons(body, method, { nullIsAbsent }));
}

describe('the examples', () => {
  it('are of every rpc, and of nothing else', () => {
    const written = STEMS.flatMap((stem) => Object.keys(readExamples(stem)));
    expect(written.toSorted()).toEqual(operations.map(({ method }) => method.name).toSorted());
    expect(operations.length).toBeGreaterThan(100);
  });

  it.each(operations.map((operation) => [operation.method.name, operation] as const))(
    'of %s sends what the contract takes, and has the answer of the contract',
    (_, operation) => {
      readRequest(operation);
      const { verb, path, body } = sentExample(operation);
      const { response } = exampleOf(operation.method);
      checkExchange({
        ...{ verb, path, status: operation.rules.successStatus },
        body: body === null ? undefined : JSON.stringify(body),
        headers: new Headers({ 'content-type': operation.mediaType }),
        text: JSON.stringify(response),
      });
      // An event is one of the members.
      if (operation.rules.stream !== RestStream.EVENTS) return;
      const schema = `#/paths/${TAIL}/get/responses/200/content/text~1event-stream/schema`;
      for (const [name, data] of Object.entries(response ?? {})) {
        expect(answerCheck(`${schema}/properties/${name}`)(data)).toEqual([]);
      }
    },
  );
});
