/**
 * The environment is the first part of a console address, `/env/<id>/…`: a link that is shared opens in the
 * environment that it was copied from.
 */
const PATH = /^\/env\/([A-Za-z0-9_]+)(?=\/|$)/;

export const environmentInPath = (path: string): string | null => PATH.exec(path)?.[1] ?? null;

export const basePathOf = (environmentId: string): string => `/env/${environmentId}`;

export const currentEnvironment = (): string | null => environmentInPath(location.pathname);

const KEY = 'meterline-environment';

/** The environment that was open last in this browser. */
export const rememberedEnvironment = (): string | null => localStorage.getItem(KEY);
export const rememberEnvironment = (id: string): void => localStorage.setItem(KEY, id);
