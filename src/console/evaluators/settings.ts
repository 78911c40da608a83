/** The settings of an evaluator type, by its JSON Schema. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Settings = { readonly [key: string]: Json };

/** The subset of JSON Schema that the catalogue uses. */
export type Schema = {
  readonly type?: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object';
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: { readonly [key: string]: Schema };
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: Json;
};

export function readSchemas(schemaJson: string): readonly (readonly [key: string, schema: Schema])[] {
  const { properties = {} } = JSON.parse(schemaJson) as Schema;
  return Object.entries(properties);
}

export function defaultsOf(schemaJson: string): Settings {
  const known = readSchemas(schemaJson).flatMap(([key, schema]) =>
    schema.default === undefined ? [] : [[key, schema.default] as const],
  );
  return Object.fromEntries(known);
}

/** Omits empty settings, so that the server uses their defaults. Unknown members stay. */
export function settingsToSend(schemaJson: string, settings: Settings): Settings {
  const schemas = new Map(readSchemas(schemaJson));
  const kept = Object.entries(settings).flatMap(([key, value]) => {
    if (value === null || (value === '' && schemas.get(key)?.default === undefined)) return [];
    return [[key, withoutEmptyTexts(value)] as const];
  });
  return Object.fromEntries(kept);
}

/** Removes the empty texts of a list. */
function withoutEmptyTexts(value: Json): Json {
  return isList(value) ? value.filter((item) => item !== '') : value;
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `case_sensitive` becomes "Case sensitive". */
export function labelOfKey(key: string): string {
  const words = key.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A new list item with its required members. */
export function emptyItem({ properties = {} }: Schema): Json {
  return Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, schema.enum?.[0] ?? '']));
}

export type EvaluatorConfig = {
  readonly evaluatorType: string | null;
  readonly settings: Settings;
  readonly onError: 'pass' | 'block';
};

export function readConfig(configJson: string | undefined): EvaluatorConfig {
  const config = JSON.parse(configJson ?? '{}') as Json;
  const { evaluatorType = null, settings = null, onError = null } = isObject(config) ? config : {};
  return {
    evaluatorType: typeof evaluatorType === 'string' ? evaluatorType : null,
    settings: isObject(settings) ? settings : {},
    onError: onError === 'block' ? 'block' : 'pass',
  };
}
