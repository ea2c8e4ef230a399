/**
 * For machines that are many times slower, and busy with something else: nothing that a test asserts may
 * depend on how long it took.
 */

/** How long a test waits for a state: distinguishes slow from hanging. */
export const WAIT_MS = 240_000;

/** By which the product's own time limits are multiplied where a test is not about them. */
export const PATIENCE = 30;
