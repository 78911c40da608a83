/** Says which parts of a query line are left out, or mean something else than they seem to. */

import controls from '../design/controls.module.css';
import { nameControls } from '../design/format.ts';
import { examplesOf, parseQueryLine } from './query-line.ts';

export function LineHints({ line }: { readonly line: string }) {
  const { unknown, empty, unreadable } = parseQueryLine(line);
  return (
    <>
      {unknown.length > 0 && (
        <p className={controls.hint} role="status">
          No filter has this name, so the text is searched for: {nameControls(unknown.join(' '))}
        </p>
      )}
      {empty.length > 0 && (
        <p className={controls.hint} role="status">
          Left out, because a value is missing: {nameControls(empty.map((name) => `${name}:`).join(' '))}
        </p>
      )}
      {unreadable.map((filter) => (
        <p key={`${filter.name}:${filter.value}`} className={controls.hint} role="status">
          Left out, because {nameControls(`${filter.name}:${filter.value}`)} is not a range. Write for example{' '}
          {examplesOf(filter)}.
        </p>
      ))}
    </>
  );
}
