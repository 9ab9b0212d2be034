// The list pages, in one file: they share most of their modules, and a file for each would
// cost more requests than it saves bytes.
import type { ComponentType } from 'preact';
import '../frame';
import Assertions from './assertions';
import Compare from './compare';
import Datasets from './datasets';
import Judges from './judges';
import Login from './login';
import Prompts from './prompts';
import Settings from './settings';

export const lists: Record<string, ComponentType> = {
  '/compare': Compare, '/assertions': Assertions, '/judges': Judges, '/prompts': Prompts, '/datasets': Datasets, '/settings': Settings, '/login': Login,
};
