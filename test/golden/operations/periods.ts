import type { AreaOperations } from '../operation.ts';

export const periods: AreaOperations = {};
