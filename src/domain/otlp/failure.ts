/** How a span failed, from its status, its exception and what its attributes say. */

import type { ErrorDraft } from '../collector-draft.ts';
import { findHttpStatus } from '../collector-error.ts';
import { isAbsent, scalarText } from '../free-json.ts';
import type { LosslessJson } from '../lossless-json.ts';
import { type OtlpSpan, STATUS_ERROR } from './span.ts';

const UNKNOWN = 'Unknown error';

/** undefined: it did not fail. */
export function failureOf({ status, attributes, events }: OtlpSpan): ErrorDraft | undefined {
  if (status.code !== STATUS_ERROR && attributes.get('error.has_error') !== true) return undefined;
  const exception = events.findLast(({ name }) => name === 'exception')?.attributes;
  const messages = [
    exception?.get('exception.message'),
    attributes.get('exception.message'),
    attributes.get('error.message'),
    status.message,
  ];
  const stacktrace = textOf(exception?.get('exception.stacktrace')) ?? textOf(attributes.get('exception.stacktrace'));
  const kinds = [exception?.get('exception.type'), attributes.get('exception.type'), attributes.get('error.type')];
  return {
    message: messages.map(textOf).find((text) => text !== undefined) ?? UNKNOWN,
    stacktrace,
    kind: kinds.map(textOf).find((text) => text !== undefined),
    httpStatus: findHttpStatus([attributes.get('http.response.status_code'), attributes.get('http.status_code')]),
  };
}

/** SDKs write an empty text where there is nothing to say. The text of arrays and objects would escape the cut of strings. */
function textOf(value: LosslessJson | undefined): string | undefined {
  if (isAbsent(value) || value === '') return undefined;
  return typeof value === 'string' ? value : (scalarText(value) ?? undefined);
}
