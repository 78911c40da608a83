/** Where the tables of conventions take values from. */

import { isObject } from '../../../../json/free-json.ts';
import type { LosslessJson } from '../../../../json/lossless-json.ts';
import type { SpanType } from '../../trace.ts';
import type { OtlpSpan } from '../span.ts';
import type { ReadAttribute } from '../span-view.ts';
import { answeredIn, askedIn } from './chat-forms.ts';

export type ReadType = (span: OtlpSpan) => SpanType | undefined;

export function attribute(key: string): ReadAttribute {
  return ({ span }) => span.attributes.get(key);
}

/** A text that is sent as JSON, in quotes; any other value as it is. */
export function quoted(key: string): ReadAttribute {
  return ({ span }) => withoutQuotes(span.attributes.get(key));
}

/** A member of a JSON object. */
export function memberOf(key: string, member: string): ReadAttribute {
  return ({ span, json }) => json.object(span.attributes.get(key))?.[member];
}

/** A request to a model, of which the messages count. */
export function request(key: string): ReadAttribute {
  return converted(key, askedIn);
}

/** An answer of a model, of which the messages count. */
export function answer(key: string): ReadAttribute {
  return converted(key, answeredIn);
}

/** The parsed value of an attribute in another form. */
export function converted(key: string, convert: (value: LosslessJson) => LosslessJson | undefined): ReadAttribute {
  return ({ span, json }) => {
    const value = json.parsed(span.attributes.get(key));
    return value === undefined ? undefined : convert(value);
  };
}

/** The type by the values of an attribute, in lower case. */
export function typeBy(key: string, types: { readonly [value: string]: SpanType }): ReadType {
  const known = new Map(Object.entries(types));
  return ({ attributes }) => {
    const value = withoutQuotes(attributes.get(key));
    return typeof value === 'string' ? known.get(value.toLowerCase()) : undefined;
  };
}

function withoutQuotes(value: LosslessJson | undefined): LosslessJson | undefined {
  return typeof value === 'string' && value.startsWith('"') ? unquote(value) : value;
}

/** A text that only looks like JSON stays as it is. */
function unquote(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value.toWellFormed() : text;
  } catch {
    return text;
  }
}

/** Objects without members stand for contents that were not captured. */
export function unlessEmpty(value: LosslessJson): LosslessJson | undefined {
  return isObject(value) && Object.keys(value).length === 0 ? undefined : value;
}
