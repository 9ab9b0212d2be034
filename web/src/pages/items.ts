import type { Page } from '../api';

export type Items<T> = T[] | Page<T>;

// items returns what a list of the server holds.
export const items = <T>(list: Items<T>): T[] => (Array.isArray(list) ? list : list.items);
