/** Where the tables of conventions take values from. */

import { isObject } from '../../../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../../../json/lossless-json.ts';
import { isUnreadable } from '../../collector/collector-draft.ts';
import { isBlank, toFigure } from '../../collector/collector-json.ts';
import { SPAN_TYPES, type SpanType } from '../../trace.ts';
import { createSource, type Source } from '../span-view.ts';
import { answeredIn, askedIn } from './chat-forms.ts';

export function attribute(key: string): Source {
  return createSource(`\`${key}\``, ({ span }) => span.attributes.get(key));
}

/** A text that is sent as JSON, in quotes; any other value as it is. */
export function quoted(key: string): Source {
  return unquoted(attribute(key));
}

export function unquoted(source: Source): Source {
  return createSource(source.about, (view) => withoutQuotes(source(view)));
}

/** The `ai` package and Mastra write `openai.chat` where conventions have the bare name of the provider. */
export function vendorOf(key: string): Source {
  return createSource(`\`${key}\` without the name of an API`, ({ span }) => {
    const vendor = span.attributes.get(key);
    return typeof vendor === 'string' ? vendor.replace(API_OF_VENDOR, '') : vendor;
  });
}

const API_OF_VENDOR = /\.(chat|completion|embedding|messages|responses)$/;

/** `google.generative-ai` is of `google`. */
export function beforePoint(key: string): Source {
  return createSource(`\`${key}\` up to its first point`, ({ span }) => {
    const vendor = span.attributes.get(key);
    return typeof vendor === 'string' ? vendor.split('.', 1)[0] : vendor;
  });
}

/** A member of a JSON object; dots lead to members of members. */
export function memberOf(key: string, member: string): Source {
  return createSource(`\`${member}\` in \`${key}\``, ({ span, json }) =>
    memberAt(json.object(span.attributes.get(key)), member),
  );
}

export function memberAt(object: LosslessObject | undefined, path: string): LosslessJson | undefined {
  let value: LosslessJson | undefined = object;
  for (const name of path.split('.')) value = isObject(value) ? value[name] : undefined;
  return value;
}

/** undefined where a value is none. */
export function figureOf(value: LosslessJson | undefined): number | undefined {
  const figure = toFigure(value, '');
  return isUnreadable(figure) ? undefined : figure;
}

/** The sum of the figures that are there. */
export function sumOf(values: readonly (LosslessJson | undefined)[]): LosslessJson | undefined {
  let sum: number | undefined;
  for (const value of values) {
    const figure = toFigure(value, '');
    // Of several figures one that cannot be read stands for all: a sum without it would be wrong.
    if (isUnreadable(figure)) return value;
    if (figure !== undefined) sum = (sum ?? 0) + figure;
  }
  return sum;
}

/** A request to a model, of which the messages count. */
export function request(key: string): Source {
  return converted(key, askedIn, 'messages of');
}

/** An answer of a model, of which the messages count. */
export function answer(key: string): Source {
  return converted(key, answeredIn, 'messages of');
}

/** The parsed value of an attribute in another form; `form` says which, before the name of the attribute. */
export function converted(
  key: string,
  convert: (value: LosslessJson) => LosslessJson | undefined,
  form?: string,
): Source {
  return createSource(`${form === undefined ? '' : `${form} `}\`${key}\``, ({ span, json }) => {
    const value = json.parsed(span.attributes.get(key));
    return value === undefined ? undefined : convert(value);
  });
}

/** The type by the values of an attribute, in lower case; any other value gives `otherwise`. */
export function typeBy(
  key: string,
  types: { readonly [value: string]: SpanType },
  otherwise?: SpanType,
): Source<SpanType> {
  const known = new Map(Object.entries(types));
  return createSource(`\`${key}\`: ${aboutTypes(types, otherwise)}`, ({ span }) => {
    const value = withoutQuotes(span.attributes.get(key));
    return (
      (typeof value === 'string' ? known.get(value.toLowerCase()) : undefined) ??
      (isBlank(value) ? undefined : otherwise)
    );
  });
}

function aboutTypes(types: { readonly [value: string]: SpanType }, otherwise: SpanType | undefined): string {
  const isNamed = SPAN_TYPES.every((type) => types[type] === type);
  const others = Object.entries(types).filter(([value]) => !isNamed || !SPAN_TYPES.some((type) => type === value));
  return [
    ...(isNamed ? ['the name of a type'] : []),
    ...others.map(([value, type]) => (value === type ? `\`${value}\`` : `\`${value}\` → ${type}`)),
    ...(otherwise === undefined ? [] : [`any other → ${otherwise}`]),
  ].join(', ');
}

export function withoutQuotes(value: LosslessJson | undefined): LosslessJson | undefined {
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
