def get_assert(output, context):
    return True

def length(output, context):
    return len(output)
