export function clientWords(directory: string): string[];
