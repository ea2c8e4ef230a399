import { X } from 'lucide-react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Text } from 'react-aria-components/Text';
import {
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components/Toast';
import styles from './toasts.module.css';

const SHOWN_MS = 6_000;

const queue = new ToastQueue<{ readonly text: string }>({ maxVisibleToasts: 3 });

/** Reports a success: `notify('Customer created')`. A failure is shown at the form or button that caused it. */
export function notify(text: string): void {
  queue.add({ text }, { timeout: SHOWN_MS });
}

export function Toasts() {
  return (
    <ToastRegion queue={queue} className={styles.region!}>
      {({ toast }) => (
        <Toast toast={toast} className={styles.toast!}>
          <ToastContent>
            <Text slot="title">{toast.content.text}</Text>
          </ToastContent>
          <AriaButton slot="close" aria-label="Dismiss" className={styles.close!}>
            <X size={14} aria-hidden />
          </AriaButton>
        </Toast>
      )}
    </ToastRegion>
  );
}
