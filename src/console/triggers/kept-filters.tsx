/** What a trigger has that its line cannot show, and what its line has that it cannot take. */

import { Chip, Chips } from '../design/chip.tsx';
import controls from '../design/controls.module.css';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { parseQueryLine, type SentFilter } from '../traces/query-line.ts';

type KeptFiltersProps = {
  readonly kept: readonly SentFilter[];
  readonly onChange: (kept: readonly SentFilter[]) => void;
};

export function KeptFilters({ kept, onChange }: KeptFiltersProps) {
  if (kept.length === 0) return null;
  return (
    <div>
      <p className={page.soft}>It also has these conditions, which cannot be written in the line. They stay.</p>
      <Chips>
        {kept.map((filter) => (
          <Chip
            key={`${filter.name} ${filter.key}`}
            name={filter.key === undefined ? filter.name : `${filter.name}.${filter.key}`}
            value={filter.values.join(', ')}
            onRemove={() => onChange(kept.filter((each) => each !== filter))}
          />
        ))}
      </Chips>
    </div>
  );
}

/** A metric can be about some traces only, but not about those that contain a text. */
export function NoWords({ line }: { readonly line: string }) {
  const { text } = parseQueryLine(line);
  if (text === '') return null;
  return (
    <p className={controls.hint} role="status">
      A metric takes filters only, no words: {nameControls(text)}
    </p>
  );
}
