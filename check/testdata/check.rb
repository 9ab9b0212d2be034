def get_assert(output, context)
  true
end
