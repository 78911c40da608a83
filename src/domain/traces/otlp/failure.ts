/** The error of a span, from its status, exception and attributes. */

import { isAbsent, scalarText } from '../../../json/free-json.ts';
import type { LosslessJson } from '../../../json/lossless-json.ts';
import type { ErrorDraft } from '../collector/collector-draft.ts';
import { findHttpStatus } from '../collector/collector-error.ts';
import { type OtlpSpan, STATUS_ERROR } from './span.ts';

const UNKNOWN = 'Unknown error';

/** undefined: no error. */
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

/** SDKs write an empty text for none. Ignores arrays and objects: their text would escape the cut of strings. */
function textOf(value: LosslessJson | undefined): string | undefined {
  if (isAbsent(value) || value === '') return undefined;
  return typeof value === 'string' ? value : (scalarText(value) ?? undefined);
}
