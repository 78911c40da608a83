/** The name of the event that a log record tells of. */

import { EVENT_NAME } from '../otlp/conventions/coding-agents.ts';
import type { OtlpRecord } from '../otlp/log-record.ts';

const NAME = /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/i;
const NAME_CHARACTERS_MAX = 200;

/**
 * From the attribute `event.name`, else the field of the record, else a body that is a name. Claude Code writes the last
 * part of the name into the attribute, and all of it into the body.
 */
export function nameOf({ attributes, eventName, body }: OtlpRecord): string {
  const sent = attributes.get(EVENT_NAME);
  const named = typeof sent === 'string' ? sent : '';
  const others = [eventName, body].filter((each) => typeof each === 'string' && isName(each)) as string[];
  if (named === '') return eventName === '' ? (others[0] ?? '') : eventName;
  return others.find((other) => other.endsWith(`.${named}`)) ?? named;
}

function isName(text: string): boolean {
  return text.length <= NAME_CHARACTERS_MAX && NAME.test(text);
}
