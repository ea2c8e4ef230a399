import { useEffect, useState } from 'react';

/** The time until the page ends. `leftMs` is what the server said at `receivedAtMs`, on the clock of this page. */
export function Countdown({
  leftMs,
  receivedAtMs,
  onEnd,
}: {
  readonly leftMs: number;
  readonly receivedAtMs: number;
  readonly onEnd: () => void;
}) {
  const [nowMs, setNowMs] = useState(receivedAtMs);
  useEffect(() => {
    const tick = setInterval(() => setNowMs(Date.now()), 1_000);
    return () => clearInterval(tick);
  }, []);
  const seconds = Math.max(0, Math.ceil((receivedAtMs + leftMs - nowMs) / 1_000));
  const isOver = seconds === 0;
  useEffect(() => {
    if (isOver) onEnd();
    // Only the end itself counts, not a new callback.
  }, [isOver]);
  const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  return (
    <p>
      Time left to pay: <span role="timer">{text}</span>
    </p>
  );
}
