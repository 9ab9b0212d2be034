# Describes a module by its syntax tree, without what cannot change what its function
# returns. The text is parsed and never run.
import ast

# With one of these, code may read its own text, names or lines.
NAMES = {"globals", "locals", "vars", "dir", "eval", "exec", "compile", "getattr", "setattr", "open", "help", "__import__", "__doc__", "__name__", "__file__", "__annotations__"}
MODULES = {"inspect", "traceback", "sys", "ast", "gc", "importlib", "logging", "warnings", "types", "dis", "linecache", "tokenize", "operator", "pickle", "ctypes", "tracemalloc", "builtins", "__main__"}
FRAMES = {"f_code", "f_lineno", "tb_lineno", "tb_frame", "tb_next", "co_name", "co_code", "co_consts", "gi_frame", "cr_frame"}
HAVE_BODIES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def reads_itself(node):
    if isinstance(node, ast.Name):
        return node.id in NAMES
    if isinstance(node, ast.Attribute):
        return node.attr in FRAMES or node.attr.startswith("__") or node.attr in MODULES
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").split(".")[0] in MODULES
    return isinstance(node, ast.alias) and node.name.split(".")[0] in MODULES


def tree(text, entry):
    """Return the tree as a text, or None if two equal trees may differ in meaning."""
    module = ast.parse(text)
    called = {id(node.func) for node in ast.walk(module) if isinstance(node, ast.Call)}
    for node in ast.walk(module):
        if reads_itself(node) or isinstance(node, ast.Name) and node.id == entry and id(node) not in called:
            return None  # a function as a value can be shown with its name
        if isinstance(node, HAVE_BODIES):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
                del node.body[0]
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == entry:
            node.name = "<entry>"
        elif isinstance(node, ast.Name) and node.id == entry:
            node.id = "<entry>"
        elif isinstance(node, ast.Constant):
            node.kind = None  # u"text"
    return ast.dump(module)
