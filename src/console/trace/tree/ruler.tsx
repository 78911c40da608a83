/** The scale above the bars. Dragging over it selects the time that they show. */

import { type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import styles from './ruler.module.css';
import { placeIn, type TimeWindow, ticksOf } from './time-window.ts';

const PX_PER_TICK = 64;
const TICKS_MIN = 2;
/** A shorter drag, in percent, is a click that slipped. */
const BRUSH_MIN = 1;

type RulerProps = {
  readonly whole: TimeWindow;
  readonly shown: TimeWindow;
  readonly onZoom: (to: TimeWindow | null) => void;
};

type Brush = { readonly from: number; readonly to: number };

export function Ruler({ whole, shown, onZoom }: RulerProps) {
  const box = useRef<HTMLDivElement>(null);
  const [widthPx, setWidthPx] = useState(0);
  const [brush, setBrush] = useState<Brush | null>(null);
  useEffect(() => {
    if (!box.current) return;
    const observer = new ResizeObserver(([entry]) => setWidthPx(entry?.contentRect.width ?? 0));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const ticks = useMemo(
    () => ticksOf(shown, whole.startMs, Math.max(TICKS_MIN, widthPx / PX_PER_TICK)),
    [shown, whole, widthPx],
  );
  const at = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return Math.min(100, Math.max(0, (100 * (clientX - left)) / width));
  };
  const end = () => {
    setBrush(null);
    if (!brush || Math.abs(brush.to - brush.from) < BRUSH_MIN) return;
    const msOf = (percent: number) => shown.startMs + (percent / 100) * (shown.endMs - shown.startMs);
    onZoom({ startMs: msOf(Math.min(brush.from, brush.to)), endMs: msOf(Math.max(brush.from, brush.to)) });
  };
  const isZoomed = shown.startMs > whole.startMs || shown.endMs < whole.endMs;
  const part = isZoomed ? placeIn(shown, whole) : null;
  return (
    <div
      ref={box}
      role="group"
      aria-label="Time"
      className={styles.ruler}
      title="Drag to zoom, double-click for the whole trace"
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const from = at(event);
        setBrush({ from, to: from });
      }}
      onPointerMove={(event) => brush && setBrush({ from: brush.from, to: at(event) })}
      onPointerUp={end}
      onPointerCancel={() => setBrush(null)}
      onDoubleClick={() => onZoom(null)}
    >
      {ticks.map(({ left, label }) => (
        <span key={left} className={styles.tick} style={{ left: `${left}%` }}>
          {label}
        </span>
      ))}
      {brush && (
        <span
          className={styles.brush}
          style={{ left: `${Math.min(brush.from, brush.to)}%`, width: `${Math.abs(brush.to - brush.from)}%` }}
        />
      )}
      {part && <span className={styles.part} style={{ left: `${part.left}%`, width: `${part.width}%` }} />}
    </div>
  );
}
