import controls from './controls.module.css';
import { Icon } from './icon.tsx';

export type SelectProps<Value extends string | number> = {
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, label: string, ...unknown[]])[];
  readonly onChange: (value: Value) => void;
  readonly disabled?: boolean | undefined;
  readonly className?: string | undefined;
  readonly title?: string | undefined;
  readonly id?: string;
  readonly 'aria-label'?: string;
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid'?: true;
};

/** What the button of a select shows. */
export function Chosen({ text }: { readonly text: string }) {
  return (
    <>
      <span className={controls.chosen}>{text}</span>
      <Icon name="down" />
    </>
  );
}
