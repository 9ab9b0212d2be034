// What proviso adds around a grammar of node-sql-parser, which defines
// parseStatement in the same global scope.
'use strict';

/**
 * Parses a statement and compares what it refers to with two lists, or null for
 * no list. Returns null, {message} for a statement that was refused, or the
 * authorities that are in no list: {tables} and {columns}, each null if all are.
 */
function checkStatement(sql, tables, columns) {
  let parsed;
  try {
    parsed = parseStatement(sql.trim());
  } catch (e) {
    if (e instanceof RangeError || e instanceof InternalError) throw e; // a limit says nothing of the statement
    return { message: e.message };
  }
  if (!tables && !columns) return null;
  return {
    tables: tables && beyond(parsed.tableList, tables),
    columns: columns && beyond(parsed.columnList, columns),
  };
}

/** All authorities if one of them matches no entry, as the whole and in any case; else null. */
function beyond(authorities, entries) {
  const patterns = entries.map((entry) => {
    try {
      return new RegExp(`^${entry}$`, 'i');
    } catch {
      return { test: () => false };
    }
  });
  const allowed = authorities.every((authority) => patterns.some((pattern) => pattern.test(authority)));
  return allowed ? null : authorities;
}
