/** The tools above the tree: search, types, view, folding, critical path and zoom. */

import type { RefObject } from 'react';
import type { SpanType } from '../../../../gen/spandrel/v1/traces_pb.js';
import { Button } from '../../design/button.tsx';
import controls from '../../design/controls.module.css';
import { Check } from '../../design/form.tsx';
import { formatCount } from '../../design/format.ts';
import { Popover } from '../../design/popover.tsx';
import { SpanIcon } from '../span-icon.tsx';
import { spanTypeName } from '../trace-enums.ts';
import styles from './tree.module.css';

export type TreeView = 'timeline' | 'tree' | 'flame';

const VIEWS: readonly (readonly [view: TreeView, label: string])[] = [
  ['timeline', 'Timeline'],
  ['tree', 'Tree'],
  ['flame', 'Flame'],
];

type TreeToolsProps = {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly find: string;
  readonly onFind: (text: string) => void;
  /** The number of spans that match; null if everything is shown. */
  readonly found: number | null;
  /** The types of the spans, and how many have each. */
  readonly counts: readonly (readonly [type: SpanType, count: number])[];
  readonly types: ReadonlySet<SpanType> | null;
  readonly onTypes: (types: ReadonlySet<SpanType> | null) => void;
  readonly view: TreeView;
  readonly onView: (view: TreeView) => void;
  readonly isWhole: boolean;
  readonly onWhole: () => void;
  readonly onlyCritical: boolean;
  readonly onCritical: (isOn: boolean) => void;
  /** Null where nothing can be folded. */
  readonly folding: { readonly isFolded: boolean; readonly toggle: () => void } | null;
  readonly zoom: Zoom;
};

type Zoom = { readonly isZoomed: boolean; readonly by: (factor: number) => void; readonly reset: () => void };

export function TreeTools(props: TreeToolsProps) {
  const { field, find, onFind, found, counts, types, onTypes, view, onView, zoom, folding } = props;
  const toggle = (type: SpanType) => {
    const now = new Set(types ?? counts.map(([each]) => each));
    if (!now.delete(type)) now.add(type);
    onTypes(now.size === 0 || now.size === counts.length ? null : now);
  };
  return (
    <div className={styles.tools}>
      <Button small aria-pressed={props.isWhole} onClick={props.onWhole}>
        Whole trace
      </Button>
      <input
        ref={field}
        className={`${controls.input} ${styles.find}`}
        type="search"
        aria-label="Find spans"
        placeholder="Find spans"
        spellCheck={false}
        value={find}
        onChange={({ target }) => onFind(target.value)}
      />
      <Popover label={types === null ? 'Types' : `Types, ${types.size}`} title="Types of spans">
        {() =>
          counts.map(([type, count]) => (
            <Check key={type} checked={types === null || types.has(type)} onChange={() => toggle(type)}>
              <SpanIcon type={type} /> {spanTypeName(type)} ({formatCount(count)})
            </Check>
          ))
        }
      </Popover>
      <span role="group" aria-label="View" className={styles.views}>
        {VIEWS.map(([name, label]) => (
          <Button key={name} small aria-pressed={view === name} onClick={() => onView(name)}>
            {label}
          </Button>
        ))}
      </span>
      <Button
        small
        aria-pressed={props.onlyCritical}
        title="The spans that the end of the trace had to wait for"
        onClick={() => props.onCritical(!props.onlyCritical)}
      >
        Critical path
      </Button>
      {folding && (
        <Button small onClick={folding.toggle}>
          {folding.isFolded ? 'Unfold all' : 'Fold all'}
        </Button>
      )}
      {view === 'flame' && <ZoomButtons {...zoom} />}
      <span role="status" className={styles.status}>
        {found !== null && `${formatCount(found)} found`}
      </span>
    </div>
  );
}

export function ZoomButtons({ isZoomed, by, reset }: Zoom) {
  return (
    <span role="group" aria-label="Zoom">
      <Button small aria-label="Zoom out" title="Zoom out ( - )" disabled={!isZoomed} onClick={() => by(0.5)}>
        −
      </Button>
      <Button small aria-label="Zoom in" title="Zoom in ( + )" onClick={() => by(2)}>
        +
      </Button>
      {isZoomed && (
        <Button small aria-label="Whole time" title="Whole time ( 0 )" onClick={reset}>
          ×
        </Button>
      )}
    </span>
  );
}
