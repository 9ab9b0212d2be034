import type { Page } from '../api';
import { get } from '../load';

export type Items<T> = T[] | Page<T>;

// items returns the entries of a server list.
export const items = <T>(list: Items<T>): T[] => (Array.isArray(list) ? list : list.items);

// every loads all pages of a list in sequence.
export async function every<T>(path: string, signal: AbortSignal): Promise<T[]> {
  const list: T[] = [];
  for (let after = ''; ;) {
    const page: Items<T> = await get<Items<T>>(path + (after && '&after=' + encodeURIComponent(after)), signal);
    list.push(...items(page));
    after = Array.isArray(page) ? '' : page.next ?? '';
    if (!after) return list;
  }
}
