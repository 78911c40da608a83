/** A divider between two zones: dragged with the pointer, moved with the arrow keys, reset with a double click or Enter. */

import { type KeyboardEvent, type PointerEvent, useRef } from 'react';
import styles from './divider.module.css';

type DividerProps = {
  readonly label: string;
  /** The id of the zone before or after it that it sizes. */
  readonly controls: string;
  /** The width of that zone in percent of what contains both. */
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly reset: number;
  /** Whether the zone is after the divider: then it shrinks as the divider moves to the right. */
  readonly isAfter?: boolean;
  readonly onChange: (value: number) => void;
};

const STEP = 2;

export function Divider({ label, controls, value, min, max, reset, isAfter = false, onChange }: DividerProps) {
  const drag = useRef<{ readonly x: number; readonly value: number; readonly widthPx: number } | null>(null);
  const sign = isAfter ? -1 : 1;
  const change = (next: number) => onChange(Math.round(10 * Math.min(max, Math.max(min, next))) / 10);
  const press = (event: KeyboardEvent) => {
    const to = {
      ArrowLeft: value - sign * STEP,
      ArrowRight: value + sign * STEP,
      Home: isAfter ? max : min,
      End: isAfter ? min : max,
      Enter: reset,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    change(to);
  };
  const grab = (event: PointerEvent<HTMLDivElement>) => {
    const widthPx = event.currentTarget.parentElement?.clientWidth ?? 0;
    if (event.button !== 0 || widthPx === 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { x: event.clientX, value, widthPx };
  };
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-controls={controls}
      aria-valuenow={Math.round(value)}
      aria-valuemin={min}
      aria-valuemax={max}
      tabIndex={0}
      title={`${label}: drag, or use the arrow keys; double-click to reset`}
      className={styles.divider}
      onKeyDown={press}
      onDoubleClick={() => change(reset)}
      onPointerDown={grab}
      onPointerMove={({ clientX }) => {
        const from = drag.current;
        if (from) change(from.value + (sign * 100 * (clientX - from.x)) / from.widthPx);
      }}
      onPointerUp={() => {
        drag.current = null;
      }}
      onPointerCancel={() => {
        drag.current = null;
      }}
    />
  );
}
