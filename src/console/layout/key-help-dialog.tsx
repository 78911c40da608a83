import { Button } from '../design/button.tsx';
import { Modal } from '../design/confirm.tsx';
import page from '../design/page.module.css';
import styles from './palette.module.css';

const NAMES: Readonly<Record<string, string>> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  ArrowLeft: '←',
  ArrowRight: '→',
  Escape: 'Esc',
};

type KeyBinding = {
  /** As `KeyboardEvent.key` spells them. */
  readonly keys: readonly string[];
  /** What they do, for the list of keys. */
  readonly label: string;
  readonly act: () => void;
};

export type KeyGroup = { readonly title: string; readonly bindings: readonly KeyBinding[] };

type KeyHelpDialogProps = { readonly groups: readonly KeyGroup[]; readonly onClose: () => void };

export default function KeyHelpDialog({ groups, onClose }: KeyHelpDialogProps) {
  return (
    <Modal title="Keys" closedBy="anything" onClose={onClose}>
      <div className={styles.choice}>
        {groups.map(({ title, bindings }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl className={styles.keys}>
              {bindings.map(({ keys, label }) => (
                <div key={label}>
                  <dt>
                    {keys.map((key) => (
                      <kbd key={key} className={styles.shownKey}>
                        {NAMES[key] ?? key}
                      </kbd>
                    ))}
                  </dt>
                  <dd>{label}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <div className={page.row}>
          <Button onClick={onClose}>Close</Button>
        </div>
      </div>
    </Modal>
  );
}
