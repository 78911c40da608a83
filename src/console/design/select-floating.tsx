import { CSPProvider } from '@base-ui/react/csp-provider';
import { Select } from '@base-ui/react/select';
import { useState } from 'react';
import { joined } from './button.tsx';
import controls from './controls.module.css';
import { Icon } from './icon.tsx';
import styles from './popover.module.css';
import { Chosen, type SelectProps } from './select-button.tsx';

/** Opens at once: the click that loads this module asked for it. */
export default function SelectFloating({
  value,
  options,
  onChange,
  disabled = false,
  className = controls.control,
  ...rest
}: SelectProps<string | number>) {
  const [isOpen, setOpen] = useState(true);
  return (
    // The policy of the page refuses style elements.
    <CSPProvider disableStyleElements>
      <Select.Root<string | number>
        open={isOpen}
        onOpenChange={setOpen}
        value={value}
        onValueChange={(chosen) => chosen !== null && onChange(chosen)}
        disabled={disabled}
        modal={false}
      >
        <Select.Trigger className={joined(className, controls.select)} {...rest}>
          <Chosen text={options.find(([each]) => each === value)?.[1] ?? ''} />
        </Select.Trigger>
        <Select.Portal>
          <Select.Positioner
            className={styles.choices ?? ''}
            sideOffset={4}
            collisionPadding={8}
            alignItemWithTrigger={false}
          >
            <Select.Popup className={styles.list ?? ''}>
              {options.map(([each, label]) => (
                <Select.Item key={each} value={each} className={styles.choice ?? ''}>
                  <Select.ItemText className={styles.text ?? ''}>{label}</Select.ItemText>
                  <Select.ItemIndicator className={styles.mark ?? ''}>
                    <Icon name="done" />
                  </Select.ItemIndicator>
                </Select.Item>
              ))}
            </Select.Popup>
          </Select.Positioner>
        </Select.Portal>
      </Select.Root>
    </CSPProvider>
  );
}
