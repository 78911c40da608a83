/** The tabs of a page; the address holds the selected one. */

import styles from './tabs.module.css';

type TabsProps<Name extends string> = {
  readonly label: string;
  readonly tabs: readonly (readonly [name: Name, label: string])[];
  readonly shown: Name;
  readonly onShow: (name: Name) => void;
};

export function Tabs<Name extends string>({ label, tabs, shown, onShow }: TabsProps<Name>) {
  return (
    <nav className={styles.tabs} aria-label={label}>
      {tabs.map(([name, text]) => (
        <button
          key={name}
          type="button"
          className={styles.tab}
          aria-current={shown === name ? 'page' : undefined}
          onClick={() => onShow(name)}
        >
          {text}
        </button>
      ))}
    </nav>
  );
}
